import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** What the proxy does with a request. */
export type Fault =
  | 'none'
  /** Responds with 500 */
  | 'server_error'
  /** Responds with 429 and a Retry-After of one second */
  | 'rate_limited'
  /** Responds with a page that is not from NocoDB */
  | 'foreign_response'
  /** Closes the connection without forwarding the request */
  | 'request_lost'
  /** Forwards the request, and closes the connection without sending the response */
  | 'response_lost'
  /** Forwards the request, and sends only half of the response */
  | 'response_truncated'

export interface FaultyProxy {
  url: string
  /** Called for each request; may be asynchronous to delay it */
  getFault: (method: string, path: string) => Fault | Promise<Fault>
  /** Requests received, as `METHOD /path` */
  requests: string[]
}

/** Starts a proxy whose faults the test controls; stopped when the test ends. */
export async function faultyProxy(t: Test, target: string): Promise<FaultyProxy> {
  const { hostname: host, port } = new URL(target)
  const proxy: FaultyProxy = { url: '', getFault: () => 'none', requests: [] }

  function forward(incoming: IncomingMessage, response: ServerResponse, fault: Fault): void {
    const { method, url: path, headers } = incoming
    const outgoing = request(
      { host, port, method, path, headers, agent: false },
      (upstreamResponse) => {
        const parts: Buffer[] = []
        upstreamResponse.on('data', (part: Buffer) => parts.push(part))
        upstreamResponse.on('end', () => {
          const body = Buffer.concat(parts)
          if (fault === 'response_lost') {
            incoming.socket.destroy()
            return
          }
          response.writeHead(upstreamResponse.statusCode ?? 502, {
            'content-type': 'application/json',
            'content-length': body.length,
          })
          if (fault === 'response_truncated') {
            response.write(body.subarray(0, body.length / 2), () => incoming.socket.destroy())
          } else response.end(body)
        })
        upstreamResponse.on('error', () => incoming.socket.destroy())
      },
    )
    outgoing.on('error', () => incoming.socket.destroy())
    incoming.pipe(outgoing)
  }

  async function handleRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = incoming
    proxy.requests.push(`${method} ${path}`)
    const fault = await proxy.getFault(method, path)
    switch (fault) {
      case 'server_error':
        response.writeHead(500, { 'content-type': 'application/json' }).end('{"msg":"failed"}')
        return
      case 'rate_limited':
        response.writeHead(429, { 'retry-after': '1' }).end('{"msg":"rate limited"}')
        return
      case 'foreign_response':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>')
        return
      case 'request_lost':
        incoming.socket.destroy()
        return
      default:
        forward(incoming, response, fault)
    }
  }
  const server = createServer((incoming, response) => void handleRequest(incoming, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}
