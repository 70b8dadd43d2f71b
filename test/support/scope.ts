/** A test or a benchmark, which runs teardowns when it ends. */
export interface Scope {
  teardown: (handler: () => unknown) => unknown
}
