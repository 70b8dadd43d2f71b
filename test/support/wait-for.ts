import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'

/** Longer than anything takes on a machine that works at all. */
const PATIENCE_MS = 30_000

/**
 * Waits for something to come to be, however slow the machine is; whether it did. For tests that
 * would otherwise guess how long it takes.
 */
export async function comesTrue(
  holds: () => boolean | Promise<boolean>,
  { everyMs = 10 } = {},
): Promise<boolean> {
  const givesUp = performance.now() + PATIENCE_MS
  for (;;) {
    if (await holds()) return true
    if (performance.now() > givesUp) return false
    await sleep(everyMs)
  }
}

/** Asserts that what is read comes to be as expected, however slow the machine is. */
export async function becomes<T>(
  t: Test,
  read: () => Promise<T>,
  expected: T,
  words = 'it is as expected',
): Promise<void> {
  let found = await read()
  await comesTrue(async () => {
    found = await read()
    return isDeepStrictEqual(found, expected)
  })
  t.same(found, expected, words)
}
