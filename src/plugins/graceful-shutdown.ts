import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The time before a close: answers go on, and each tells its client to come no more on
     * this connection. Without it, a request already on its way meets a closed connection.
     */
    drain: (milliseconds: number) => Promise<void>
  }
}

/** Of the event loop; the first may have begun before. */
const TURNS = 2

/**
 * Lets a stop be quick and still drop nothing. Connections on which no request is under way
 * are cut, those that never sent a whole one too: Node counts them as busy and would wait.
 */
export default fp(
  async (app) => {
    let leaving = false
    let closing = false
    const requests = new Map<Socket, number>()
    const count = (socket: Socket, change: number): void => {
      if (requests.has(socket)) requests.set(socket, (requests.get(socket) ?? 0) + change)
    }
    app.server.on('connection', (socket: Socket) => {
      requests.set(socket, 0)
      socket.once('close', () => requests.delete(socket))
    })
    app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      count(socket, 1)
      response.once('close', () => {
        count(socket, -1)
        // Its head may have gone out before the close began, without telling the client.
        if (closing && requests.get(socket) === 0) socket.destroySoon()
      })
    })

    app.decorate('drain', async (milliseconds) => {
      leaving = true
      await sleep(milliseconds)
      // A process that has much to do comes late to this: what has arrived meanwhile counts too.
      for (let turn = 0; turn < TURNS; turn++) await nextTurn()
    })
    app.addHook('preClose', async () => {
      leaving = true
      closing = true
      for (const [socket, underWay] of requests) if (underWay === 0) socket.destroy()
    })
    app.addHook('onSend', (_request, reply, payload, done) => {
      if (leaving) void reply.header('connection', 'close')
      done(null, payload)
    })
  },
  { name: 'graceful-close' },
)
