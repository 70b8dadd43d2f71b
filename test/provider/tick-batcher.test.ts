import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { ResponseReader, type UpstreamResponse } from '../../src/provider/upstream-response.js'
import { TickBatcher } from '../../src/provider/tick-batcher.js'

t.test('what becomes ready in one turn is handed over after it, in its order', async (t) => {
  const turn = new TickBatcher()
  const handed: string[] = []
  for (let i = 0; i < 4; i++) turn.begin()
  turn.ready(() => {
    handed.push('first')
    turn.ready(() => handed.push('meanwhile'))
  })
  turn.ready(() => handed.push('second'))
  t.same(handed, [])
  await nextTurn()
  t.same(handed, ['first', 'second'])
  await nextTurn()
  t.same(handed, ['first', 'second', 'meanwhile'])
  turn.ready(() => handed.push('the only one left'))
  t.equal(handed.at(-1), 'the only one left', 'at once')
})

t.test('for one that has failed nobody waits', async (t) => {
  const turn = new TickBatcher()
  turn.begin()
  turn.begin()
  turn.end()
  let isHandedOver = false
  turn.ready(() => (isHandedOver = true))
  t.ok(isHandedOver)
})

t.test(
  'an error in handing over one answer is told to its asker, and to nobody else',
  async (t) => {
    const turn = new TickBatcher()
    const told: string[] = []
    const controller = {} as Parameters<ResponseReader['onResponseStart']>[0]
    const ask = (name: string, answered: (answer: UpstreamResponse) => void) =>
      new ResponseReader(
        { method: 'GET', path: '/' },
        { answered, failed: ({ message }) => told.push(`${name} failed: ${message}`) },
        turn,
      )
    const readers = [
      ask('first', () => {
        throw new Error('cannot be handed on')
      }),
      ask('second', ({ statusCode }) => told.push(`second got ${statusCode}`)),
    ]
    for (const reader of readers) {
      reader.onResponseStart(controller, 200, { 'content-length': '2' })
      reader.onResponseData(controller, Buffer.from('{}'))
      reader.onResponseEnd()
    }
    t.same(told, [])
    await nextTurn()
    t.same(told, ['first failed: cannot be handed on', 'second got 200'])
  },
)
