const MAX_AGE_MS = 2_000

/**
 * Shares calls among requests: a call in progress, and a result less than two seconds old. Errors
 * are shared only with the requests that wait for them.
 *
 * @param isKept whether to share a result after the call has ended
 */
export function createSharedCalls<T>(isKept: (result: T) => boolean = () => false) {
  const calls = new Map<string, Promise<T>>()

  return (key: string, start: () => Promise<T>): Promise<T> => {
    const known = calls.get(key)
    if (known !== undefined) return known
    const call = start()
    const forget = (): void => void calls.delete(key)
    calls.set(key, call)
    call.then(
      (result) => (isKept(result) ? setTimeout(forget, MAX_AGE_MS).unref() : forget()),
      forget,
    )
    return call
  }
}
