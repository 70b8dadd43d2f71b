import { createServer } from 'node:net'

/**
 * Below the ephemeral ports of operating systems (from 32768 on Linux, from 49152 elsewhere), which
 * another process might be assigned before the caller listens.
 */
const MIN_PORT = 10_240
const MAX_PORT = 32_767

const returned = new Set<number>()

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Returns a free loopback port, a different one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = MIN_PORT + Math.floor(Math.random() * (MAX_PORT - MIN_PORT + 1))
    if (returned.has(port) || !(await isFree(port))) continue
    returned.add(port)
    return port
  }
}
