import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Announces the coming shutdown, then waits before the server closes. Meanwhile, responses
     * carry `Connection: close`, so that clients send no requests on a connection that is closing.
     * Waits longer, up to `maxMs`, while requests are waiting to be read.
     */
    drain: (minMs: number, maxMs: number) => Promise<void>
  }
}

/**
 * Closes quickly, but drops no request. Destroys the connections that have no request in progress.
 * These include connections that have not sent a complete request, for which Node would wait.
 */
export default fp(
  async (app) => {
    let isDraining = false
    let isClosing = false
    let received = 0
    const activeRequests = new Map<Socket, number>()
    const add = (socket: Socket, change: number): void => {
      const count = activeRequests.get(socket)
      if (count !== undefined) activeRequests.set(socket, count + change)
    }
    app.server.on('connection', (socket: Socket) => {
      activeRequests.set(socket, 0)
      socket.once('close', () => activeRequests.delete(socket))
    })
    app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      received += 1
      add(socket, 1)
      response.once('close', () => {
        add(socket, -1)
        // The headers may have been sent, without `Connection: close`, before the shutdown started.
        if (isClosing && activeRequests.get(socket) === 0) socket.destroySoon()
      })
    })

    app.decorate('drain', async (minMs, maxMs) => {
      isDraining = true
      const deadline = performance.now() + maxMs
      await sleep(minMs)
      let before
      do {
        before = received
        await nextTick()
        await nextTick()
      } while (received > before && performance.now() < deadline)
    })
    app.addHook('preClose', async () => {
      isDraining = true
      isClosing = true
      for (const [socket, count] of activeRequests) if (count === 0) socket.destroy()
    })
    app.addHook('onSend', (_request, reply, payload, done) => {
      if (isDraining) void reply.header('connection', 'close')
      done(null, payload)
    })
  },
  { name: 'graceful-shutdown' },
)
