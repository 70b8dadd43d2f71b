import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something holds; tells what it was that did. */
export async function until<T>(
  look: () => Promise<T | false | null | undefined>,
  withinMs = 90_000,
): Promise<T> {
  const givesUp = Date.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== false && found !== null && found !== undefined) return found
    if (Date.now() > givesUp) throw new Error(`it did not come about within ${withinMs} ms`)
    await sleep(25)
  }
}

/** Waits until a service says that it is ready; tells how it says so. */
export const untilReady = (url: string, withinMs?: number): Promise<any> =>
  until(async () => {
    const answer = await fetch(`${url}/readyz`)
    const body: unknown = await answer.json()
    return answer.status === 200 && body
  }, withinMs)
