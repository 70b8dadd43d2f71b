import { parentPort, workerData } from 'node:worker_threads'
import { rewriteFile } from './rewrite-file.js'

/* The worker thread that rewrites a SQLite file and posts whether it has finished. */
parentPort?.postMessage(await rewriteFile(workerData as string))
