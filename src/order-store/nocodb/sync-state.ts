/** How a copy of the orders stands, as the process is told. */
export interface SyncState {
  /** Whether all orders have been taken in once */
  isLoaded: boolean
  /** While they are being taken in: how many rows of how many */
  progress: { done: number; total: number } | null
  /** The copy shows what was in NocoDB at this moment, ISO 8601; `null` before the first time */
  asOf: string | null
  /** What keeps it from catching up, in words; `null` where nothing does */
  trouble: string | null
  /** Columns that do not do, in words; empty where all do */
  misfits: string[]
  /** Rows that are no orders: how many, and the first of them in words */
  leftOut: { count: number; first: string[] }
}

export const NOT_LOADED: SyncState = {
  isLoaded: false,
  progress: null,
  asOf: null,
  trouble: null,
  misfits: [],
  leftOut: { count: 0, first: [] },
}

/** A sentence as it begins a text. */
export const capitalize = (sentence: string): string =>
  sentence.charAt(0).toUpperCase() + sentence.slice(1)

/** What keeps the copy from catching up, a sentence without its end; `null` where nothing does */
export function describeSyncError({ trouble, misfits }: SyncState): string | null {
  if (trouble === null || misfits.length === 0) return trouble
  return `the orders table in NocoDB does not fit (${misfits.join('; ')}), and npm run nocodb:setup adds what it lacks`
}

/** Where the log entries of a thread go. */
export interface WorkerLog {
  info: (details: object, message: string) => void
  warn: (details: object, message: string) => void
  error: (details: object, message: string) => void
}
