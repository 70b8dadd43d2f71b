import { parentPort, workerData } from 'node:worker_threads'
import { isIntact } from './integrity-check.js'
import { openReadOnly } from './open-database.js'

/* The worker thread that checks a large database once and posts whether it is intact. */
const db = openReadOnly(workerData as string)
const intact = isIntact(db)
db.close()
parentPort?.postMessage(intact)
