import { parentPort, workerData } from 'node:worker_threads'
import { openReadOnly } from './open-database.js'
import { isComplete } from './inspect-database.js'

/* The thread that looks through a large book once: it says whether the book is whole, and ends. */
const db = openReadOnly(workerData as string)
const whole = isComplete(db)
db.close()
parentPort?.postMessage(whole)
