import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

/** The provider's API token, which must not appear anywhere else. */
export const UPSTREAM_TOKEN = 'canary-5d41402abc4b2a76b9719d911017c592'

/** Configuration of a provider. */
export const upstreamEnvironment = (
  url: string,
  more: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv => ({
  ORDERSOURCE_BASE_URL: url,
  ORDERSOURCE_API_TOKEN: UPSTREAM_TOKEN,
  ...more,
})

export interface Recorded {
  method: string
  /** As received */
  url: string
  headers: IncomingHttpHeaders
  /** Alternating names and values */
  rawHeaders: string[]
  body: string
}

export interface RecordingUpstream {
  /** With the base path */
  url: string
  requests: Recorded[]
  /** Responds to recorded requests; by default with 200 and `{}` */
  respond: RequestListener
  connections: () => number
}

const respondWithEmptyObject: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'application/json').end('{}')
}

/** Starts an HTTP server that records every request; it stops when the test ends. */
export async function recordingUpstream(t: Test, basePath = '/v1'): Promise<RecordingUpstream> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const { method = '', url = '', headers, rawHeaders } = request
    const recorded: Recorded = { method, url, headers, rawHeaders, body: '' }
    upstream.requests.push(recorded)
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('error', () => undefined)
    request.on('end', () => {
      recorded.body = Buffer.concat(parts).toString('latin1')
      upstream.respond(request, response)
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const upstream: RecordingUpstream = {
    url: `http://127.0.0.1:${port}${basePath}`,
    requests: [],
    respond: respondWithEmptyObject,
    connections: () => sockets.size,
  }
  return upstream
}

type Behaviour = (socket: Socket, connection: number, text: string) => void

export interface RawUpstream {
  url: string
  /** Called when a connection receives data */
  behave: Behaviour
  /** Data of each connection that has received any, in order */
  received: string[]
  /** Number of these connections that are open; a client may keep others in reserve */
  open: () => number
}

/** Starts a TCP server; the test controls every connection. */
export async function rawUpstream(
  t: Test,
  behave: Behaviour = () => undefined,
  onConnect: (socket: Socket) => void = () => undefined,
): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  const connectionNumbers = new Map<Socket, number>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket
      .on('close', () => {
        sockets.delete(socket)
        connectionNumbers.delete(socket)
      })
      .on('error', () => undefined)
      .on('data', (part: Buffer) => {
        const text = part.toString('latin1')
        const connection = connectionNumbers.get(socket) ?? upstream.received.push('') - 1
        connectionNumbers.set(socket, connection)
        upstream.received[connection] = (upstream.received[connection] ?? '') + text
        upstream.behave(socket, connection, text)
      })
    onConnect(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${port}/v1`,
    behave,
    received: [],
    open: () => connectionNumbers.size,
  }
  return upstream
}
