import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Teaches a thread TypeScript: on Node 20, tsx does so for the main thread alone. */
function typescriptLoader(): string[] {
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const code = `import { register } from ${tsx}; register()`
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
}

/**
 * Starts a thread with a module, such as `orders/export/export-worker`, compiled or, while the
 * sources are being worked on, as it is. Paths begin at this module's folder, not at a caller's:
 * the server is built into one file, which lies there as well.
 */
export function startWorker(module: string, workerData: unknown): Worker {
  const extension = extname(import.meta.url)
  return new Worker(new URL(`./${module}${extension}`, import.meta.url), {
    workerData,
    // What the process was told to load first would be loaded again, and start each thread late.
    execArgv: extension === '.ts' ? typescriptLoader() : [],
  })
}

/**
 * What a thread has thrown, as an error: those of the database are none any more once they have
 * come over from the thread.
 */
export const toWorkerError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('a thread has failed', { cause: thrown })
