import { extname } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { FunctionCall } from './start-worker.js'

/* The worker thread that runs one function of a module and posts its result. */
const { module, name, argument } = workerData as FunctionCall
const functions = (await import(`../${module}${extname(import.meta.url)}`)) as Record<
  string,
  (argument: unknown) => unknown
>
const run = functions[name]
if (run === undefined) throw new Error(`${module} exports no ${name}`)
parentPort?.postMessage(await run(argument))
