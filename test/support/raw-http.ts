import { connect, type Socket } from 'node:net'

/** A socket to a service, for requests that fetch would tidy up. */
export function rawSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** All that comes back until the other side ends. */
export async function readToEnd(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1')
  for await (const part of socket) text += String(part)
  return text
}

/** Sends a GET for a path exactly as written; returns status, head and body. */
export async function rawGet(
  url: string,
  path: string,
): Promise<{ status: number; head: string; body: string }> {
  const socket = await rawSocket(url)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
  const response = await readToEnd(socket)
  const [head = ''] = response.split('\r\n\r\n', 1)
  return { status: Number(head.split(' ')[1]), head, body: response.slice(head.length + 4) }
}

/** Sends a request exactly as written, which must close the connection; returns the response. */
export async function rawRequest(url: string, request: string): Promise<string> {
  const socket = await rawSocket(url)
  socket.write(request)
  return readToEnd(socket)
}
