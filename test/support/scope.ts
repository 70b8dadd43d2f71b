/** A test, or a program that uses what tests use: what it starts is stopped when it ends. */
export interface Scope {
  teardown: (stop: () => unknown) => unknown
}
