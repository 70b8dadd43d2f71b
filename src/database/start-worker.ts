import { extname } from 'node:path'
import { Worker, type ResourceLimits } from 'node:worker_threads'

/** On Node 20, tsx does not apply to workers, so each worker has to register it. */
function getTypeScriptLoader(): string[] {
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const code = `import { register } from ${tsx}; register()`
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
}

/**
 * Starts a worker thread.
 *
 * @param module path from `src` without extension, such as `exports/export-worker`
 */
export function startWorker(
  module: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Worker {
  const extension = extname(import.meta.url)
  return new Worker(new URL(`../${module}${extension}`, import.meta.url), {
    workerData,
    resourceLimits,
    execArgv: extension === '.ts' ? getTypeScriptLoader() : [],
  })
}

/**
 * Runs a function in a worker thread, which posts what the function returns.
 *
 * @param module path from `src` without extension, such as `database/rewrite-file`
 * @param name name of the function, which has one parameter
 */
export const startFunction = (module: string, name: string, argument: unknown): Worker =>
  startWorker('database/function-worker', { module, name, argument } satisfies FunctionCall)

/** The function that a worker thread runs. */
export interface FunctionCall {
  module: string
  name: string
  argument: unknown
}

/** Converts what a worker threw. SQLite errors from another thread are not instances of `Error`. */
export const toWorkerError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('a worker failed', { cause: thrown })
