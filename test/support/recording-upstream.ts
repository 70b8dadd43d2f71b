import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

/** The token that the service calls the order source with, and that must be seen nowhere else. */
export const UPSTREAM_TOKEN = 'canary-5d41402abc4b2a76b9719d911017c592'

/** The configuration that points the service at an order source. */
export const pointAt = (url: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ORDERSOURCE_BASE_URL: url,
  ORDERSOURCE_API_TOKEN: UPSTREAM_TOKEN,
  ...more,
})

export interface Recorded {
  method: string
  /** As it came over the wire */
  url: string
  headers: IncomingHttpHeaders
  /** Names and values, in turns */
  rawHeaders: string[]
  body: string
}

export interface RecordingUpstream {
  /** With the base path */
  url: string
  requests: Recorded[]
  /** How requests are answered from now on, once they are recorded; by default 200 and `{}` */
  answer: RequestListener
  connections: () => number
}

const plainAnswer: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'application/json').end('{}')
}

/** An HTTP server that writes down every request it gets; stopped when the test ends. */
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
      upstream.answer(request, response)
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
    answer: plainAnswer,
    connections: () => sockets.size,
  }
  return upstream
}

type Behaviour = (socket: Socket, call: number, text: string) => void

export interface RawUpstream {
  url: string
  /** What is done to a connection when something has come in on it */
  behave: Behaviour
  /** All that came in on each connection on which anything did, in the order in which it began */
  calls: string[]
  /** Of these connections, how many are open; the client may keep others in reserve. */
  open: () => number
}

/** A server that knows no HTTP: it does to each connection what it is told to. */
export async function rawUpstream(
  t: Test,
  behave: Behaviour = () => undefined,
  onConnect: (socket: Socket) => void = () => undefined,
): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  const called = new Map<Socket, number>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket
      .on('close', () => {
        sockets.delete(socket)
        called.delete(socket)
      })
      .on('error', () => undefined)
      .on('data', (part: Buffer) => {
        const text = part.toString('latin1')
        const call = called.get(socket) ?? upstream.calls.push('') - 1
        called.set(socket, call)
        upstream.calls[call] = (upstream.calls[call] ?? '') + text
        upstream.behave(socket, call, text)
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
    calls: [],
    open: () => called.size,
  }
  return upstream
}
