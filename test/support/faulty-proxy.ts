import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** What becomes of a request on its way. */
export type Fault =
  | 'none'
  /** Responds with 500 */
  | 'fails'
  /** Responds with 429 and Retry-After of a second */
  | 'rations'
  /** Responds with an HTML page */
  | 'garbles'
  /** The connection ends before the request has gone on */
  | 'cuts before'
  /** Forwards the request, then closes the connection without a response */
  | 'cuts after'
  /** Sends half of the response */
  | 'cuts amid'

export interface FaultyProxy {
  url: string
  /** Decides for each request, and may take its time */
  faultOf: (method: string, path: string) => Fault | Promise<Fault>
  /** Requests that came, as `METHOD /path` */
  requests: string[]
}

/** A proxy in front of a server, which does to requests what a test decides. */
export async function faultyProxy(t: Test, target: string): Promise<FaultyProxy> {
  const to = new URL(target)
  const proxy: FaultyProxy = { url: '', faultOf: () => 'none', requests: [] }

  function forward(from: IncomingMessage, reply: ServerResponse, fault: Fault): void {
    const { method, url: path, headers } = from
    const onward = request(
      { host: to.hostname, port: to.port, method, path, headers, agent: false },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          const body = Buffer.concat(parts)
          if (fault === 'cuts after') {
            from.socket.destroy()
            return
          }
          reply.writeHead(response.statusCode ?? 502, {
            'content-type': 'application/json',
            'content-length': body.length,
          })
          if (fault === 'cuts amid') {
            reply.write(body.subarray(0, body.length / 2), () => from.socket.destroy())
          } else reply.end(body)
        })
        response.on('error', () => from.socket.destroy())
      },
    )
    onward.on('error', () => from.socket.destroy())
    from.pipe(onward)
  }

  async function pass(from: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = from
    proxy.requests.push(`${method} ${path}`)
    const fault = await proxy.faultOf(method, path)
    switch (fault) {
      case 'fails':
        reply.writeHead(500, { 'content-type': 'application/json' }).end('{"msg":"no"}')
        return
      case 'rations':
        reply.writeHead(429, { 'retry-after': '1' }).end('{"msg":"slowly"}')
        return
      case 'garbles':
        reply.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>')
        return
      case 'cuts before':
        from.socket.destroy()
        return
      default:
        forward(from, reply, fault)
    }
  }
  const server = createServer((from, reply) => void pass(from, reply))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}
