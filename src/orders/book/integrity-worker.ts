import { parentPort, workerData } from 'node:worker_threads'
import { openForReading } from './open-database.js'
import { isWhole } from './inspect-database.js'

/* The thread that looks through a large book once: it says whether the book is whole, and ends. */
const db = openForReading(workerData as string)
const whole = isWhole(db)
db.close()
parentPort?.postMessage(whole)
