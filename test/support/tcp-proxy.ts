import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

export interface TcpProxy {
  port: number
  /** Whether to close a connection instead of forwarding a chunk; called for every chunk */
  isCut: (direction: 'to server' | 'to client') => boolean
}

/** Starts a proxy that can cut connections; stopped when the test ends. */
export async function startTcpProxy(t: Test, targetPort: number): Promise<TcpProxy> {
  const proxy: TcpProxy = { port: 0, isCut: () => false }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    const close = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', close).on('close', () => {
        sockets.delete(socket)
        close()
      })
    }
    const forward = (from: Socket, to: Socket, direction: 'to server' | 'to client') =>
      from.on('data', (chunk) => (proxy.isCut(direction) ? close() : to.write(chunk)))
    forward(client, upstream, 'to server')
    forward(upstream, client, 'to client')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.port = (server.address() as AddressInfo).port
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return proxy
}
