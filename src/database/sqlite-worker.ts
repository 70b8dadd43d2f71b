import { parentPort, workerData } from 'node:worker_threads'
import { isIntact } from './inspect-database.js'
import { openReadOnly } from './open-database.js'
import { rewriteFile } from './rewrite-file.js'

function check(path: string): boolean {
  const db = openReadOnly(path)
  const intact = isIntact(db)
  db.close()
  return intact
}

/* The worker thread that checks or rewrites a SQLite file and posts whether it succeeded. */
const { task, path } = workerData as { task: 'check' | 'rewrite'; path: string }
parentPort?.postMessage(task === 'check' ? check(path) : await rewriteFile(path))
