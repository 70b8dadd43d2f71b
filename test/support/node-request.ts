import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'

export interface NodeResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Sends a request without fetch, which adds headers, decompresses and follows redirects. */
export function nodeRequest(
  address: string,
  options: { method?: string; headers?: Record<string, string | string[]>; body?: Buffer } = {},
): Promise<NodeResponse> {
  const { method = 'GET', headers = {}, body } = options
  return new Promise((resolve, reject) => {
    // Redirects repeat the query, which may be as long as the server accepts, and escape it.
    const settings = { method, headers, maxHeaderSize: 128 * 1024 }
    const request = httpRequest(address, settings, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
        }),
      )
    })
    request.on('error', reject)
    request.end(body)
  })
}
