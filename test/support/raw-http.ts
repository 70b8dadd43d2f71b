import { connect, type Socket } from 'node:net'

/** Opens a socket to a service, for requests that fetch would normalise. */
export function rawSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Reads until the peer closes the connection. */
export async function readToEnd(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1')
  for await (const part of socket) text += String(part)
  return text
}

/** Sends a request unchanged, and reads the response until the connection closes. */
export async function rawRequest(url: string, request: string): Promise<string> {
  const socket = await rawSocket(url)
  socket.write(request)
  return readToEnd(socket)
}

/** Sends a GET request for a path without normalising the path. */
export async function rawGet(
  url: string,
  path: string,
): Promise<{ status: number; head: string; body: string }> {
  const response = await rawRequest(
    url,
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
  )
  const [head = ''] = response.split('\r\n\r\n', 1)
  return { status: Number(head.split(' ')[1]), head, body: response.slice(head.length + 4) }
}
