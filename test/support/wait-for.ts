import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'

/** How long a test waits for anything, ms. Generous: a busy machine must not fail a test. */
export const MAX_WAIT_MS = 120_000

/** Polls until the condition holds. Resolves to `false` after MAX_WAIT_MS. */
export async function waitUntil(
  isTrue: () => boolean | Promise<boolean>,
  { everyMs = 10 } = {},
): Promise<boolean> {
  const deadline = performance.now() + MAX_WAIT_MS
  for (;;) {
    if (await isTrue()) return true
    if (performance.now() > deadline) return false
    await sleep(everyMs)
  }
}

/** Polls until the value read equals the expected one, and asserts it. Fails after MAX_WAIT_MS. */
export async function waitForEqual<T>(
  t: Test,
  read: () => Promise<T>,
  expected: T,
  message = 'has the expected value',
): Promise<void> {
  let value = await read()
  await waitUntil(async () => {
    value = await read()
    return isDeepStrictEqual(value, expected)
  })
  t.same(value, expected, message)
}

/** Polls until there is a value, and returns it. Throws after `maxWaitMs`. */
export async function waitFor<T>(
  read: () => Promise<T | false | null | undefined>,
  maxWaitMs = MAX_WAIT_MS,
): Promise<T> {
  const deadline = Date.now() + maxWaitMs
  for (;;) {
    const value = await read()
    if (value !== false && value !== null && value !== undefined) return value
    if (Date.now() > deadline) throw new Error(`no value within ${maxWaitMs} ms`)
    await sleep(25)
  }
}

/** Polls until a service is ready, and returns the body of `/readyz`. */
export const waitUntilReady = (url: string, maxWaitMs?: number): Promise<any> =>
  waitFor(async () => {
    const response = await fetch(`${url}/readyz`)
    const body: unknown = await response.json()
    return response.status === 200 && body
  }, maxWaitMs)
