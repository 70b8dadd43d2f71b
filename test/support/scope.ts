/** A test, or a program that uses test helpers: runs its teardown functions when it ends. */
export interface Scope {
  teardown: (stop: () => unknown) => unknown
}
