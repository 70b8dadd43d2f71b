/** How often something may happen within a time, counted from its first occurrence. */
export interface Budget {
  most: number
  windowMs: number
}

/** What was to be remembered is, but only until the process ends. */
export class NotPersistedError extends Error {
  override readonly name = 'NotKeptError'
}

/**
 * What the processes of one service must know of each other, for a while: in Redis, or within
 * the one process there is. Throws a Problem (503) where it cannot be asked.
 */
export interface KeyValueStore {
  /**
   * Remembers a key for a time. Only for what takes a login to cause, as it is never displaced.
   * Throws NotKeptError where a restart may make it forgotten.
   */
  remember(key: string, milliseconds: number): Promise<void>
  remembers(key: string): Promise<boolean>
  /** Takes one from a budget, at once for all who ask: 0, or the milliseconds until there is more. */
  take(key: string, budget: Budget): Promise<number>
  /** Gives back one that was taken. */
  giveBack(key: string): Promise<void>
}
