/** Runs tasks with the same key one at a time; tasks with different keys run concurrently. */
export function createKeyedMutex() {
  const last = new Map<string, Promise<unknown>>()
  return <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const previous = last.get(key) ?? Promise.resolve()
    const result = previous.then(task)
    const settled = result
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === settled) last.delete(key)
      })
    last.set(key, settled)
    return result
  }
}
