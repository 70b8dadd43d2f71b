/** Does work one after the other for each order, and for different orders side by side. */
export function createPerOrderMutex() {
  const last = new Map<string, Promise<unknown>>()
  return <T>(id: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(id) ?? Promise.resolve()
    const own = before.then(work, work)
    const settled = own
      .catch(() => undefined)
      .then(() => {
        if (last.get(id) === settled) last.delete(id)
      })
    last.set(id, settled)
    return own
  }
}

export type PerOrderMutex = ReturnType<typeof createPerOrderMutex>
