/** Runs teardowns at its end: a test, or a benchmark. */
export interface Scope {
  teardown: (handler: () => unknown) => unknown
}
