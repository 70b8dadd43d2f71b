import { once } from 'node:events'
import type { FastifyBaseLogger } from 'fastify'
import { isRewriteDue } from './rewrite-file.js'
import { startWorker } from './start-worker.js'

/** Rewrites SQLite files from which something was erased, in a worker thread. */
export function createFileRewriter(paths: readonly string[], log: FastifyBaseLogger) {
  let running: Promise<void> = Promise.resolve()

  async function rewrite(path: string): Promise<void> {
    const [isDone] = (await once(startWorker('database/rewrite-worker', path), 'message')) as [
      boolean,
    ]
    if (!isDone) log.warn({ path }, 'the file is in use: erased data is removed from it later')
  }

  const isDue = (): boolean => paths.some(isRewriteDue)

  return {
    /** Whether unused parts of the files may still have copies of erased data. */
    isDue,
    /** Rewrites the files that are due, one after the other. Call it regularly. */
    run(): Promise<void> {
      const next = running.then(async () => {
        for (const path of paths.filter(isRewriteDue)) await rewrite(path)
      })
      running = next.catch(() => undefined)
      return next
    },
  }
}

export type FileRewriter = ReturnType<typeof createFileRewriter>
