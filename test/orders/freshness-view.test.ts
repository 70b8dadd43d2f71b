import t from 'tap'
import { buildFreshnessView } from '../../src/orders/freshness.js'

t.test('describes outdated orders and the reason', (t) => {
  const now = Date.parse('2026-11-20T14:07:30Z')
  const client = { locale: 'en-GB', timeZone: 'Europe/Paris', now }
  const view = (asOf: string | null, problem: string | null, isWritable = false) =>
    buildFreshnessView({ asOf, problem, isWritable }, client)
  t.equal(buildFreshnessView(null, client), null, 'a store in SQLite is never outdated')
  t.equal(view('2026-11-20T14:07:00Z', null), null)
  t.equal(view(null, 'Orders are loading'), null, 'pages show this themselves')
  t.strictSame(view('2026-11-20T14:02:20Z', 'NocoDB cannot be reached'), {
    asOf: '2026-11-20T14:02:20Z',
    time: '15:02',
    age: '5 min ago',
    timeZone: 'Europe/Paris',
    text: 'NocoDB cannot be reached. Changes cannot be saved until this is resolved.',
  })
  t.match(view('2026-11-20T14:07:00Z', 'x'), { age: 'less than a minute ago' })
  t.match(view('2026-11-19T23:30:00Z', 'x'), { time: '00:30', age: '14 hr ago' })
  t.match(view('2026-11-18T09:00:00Z', 'x'), { time: '18 Nov 2026, 10:00', age: '2 days ago' })
  t.match(view('2026-11-20T14:00:00Z', 'NocoDB responds slowly', true), {
    text: 'NocoDB responds slowly.',
  })
  t.end()
})
