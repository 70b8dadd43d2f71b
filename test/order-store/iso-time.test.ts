import fc from 'fast-check'
import t from 'tap'
import { formatIsoTime } from '../../src/order-store/sqlite/iso-time.js'

t.test('moments are written as dates write them', async (t) => {
  const moments = fc.date({ noInvalidDate: true }).map((date) => date.getTime())
  fc.assert(fc.property(moments, (at) => formatIsoTime(at) === new Date(at).toISOString()))
  const edges = [
    0,
    -1,
    86_399_999,
    86_400_000,
    Date.UTC(1900, 0, 1),
    Date.UTC(2199, 11, 31, 23, 59),
  ]
  t.strictSame(
    edges.map(formatIsoTime),
    edges.map((at) => new Date(at).toISOString()),
  )
})

t.test('of more days than are kept, too', async (t) => {
  for (let day = 0; day < 10_100; day++) formatIsoTime(day * 86_400_000)
  t.equal(formatIsoTime(86_400_000), '1970-01-02T00:00:00.000Z')
})
