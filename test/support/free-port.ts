import { createServer } from 'node:net'

/**
 * Below the ports that systems hand out by themselves (32768 and up on Linux, 49152 elsewhere):
 * of those, any connection or server of the machine may take one between this and its use.
 */
const FIRST = 10_240
const LAST = 32_767

const given = new Set<number>()

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Returns an unused port outside the ephemeral range. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1))
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}
