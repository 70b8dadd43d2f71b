import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { isCorruption } from '../database/database-error.js'
import { createNocoDbClient } from './nocodb-client.js'
import { createOrderWrites } from './order-writes.js'
import { createOrdersTable } from './orders-table.js'
import type {
  MessageFromWorker,
  MessageToWorker,
  ReplicaWorkerData,
  WorkerLog,
  WriteRequest,
} from './replica-messages.js'
import { openReplica } from './replica.js'
import { fetchColumns, findSchemaMismatches } from './schema-check.js'
import { createSyncLoop } from './sync-loop.js'
import { changeUnconfirmed, WriteRejectedError } from './write-rejection.js'

/*
 * The worker thread that sends all requests to NocoDB: it updates the replica and writes orders.
 * The main thread reads the replica.
 */

if (parentPort === null) throw new Error('replica-worker must run in a worker thread')
const port = parentPort
const { path, settings } = workerData as ReplicaWorkerData
const { baseId, tableId, titles } = settings

const send = (message: MessageFromWorker): void => port.postMessage(message)
const createLog =
  (level: keyof WorkerLog): WorkerLog['info'] =>
  (details, message) =>
    send({ level, details, message })
const log: WorkerLog = {
  info: createLog('info'),
  warn: createLog('warn'),
  error: createLog('error'),
}

// Long, because a rewrite of the file after an erasure blocks writes.
const db = new Database(path, { timeout: 60_000 })
// Commits lost in a crash of the machine are read from NocoDB again.
db.pragma('synchronous = NORMAL')
db.pragma('secure_delete = ON')
const replica = openReplica(db, titles)
const client = createNocoDbClient(settings)
const table = createOrdersTable(client, { baseId, tableId, titles })
const writes = createOrderWrites({
  table,
  replica,
  titles,
  requireWritable: () => sync.requireWritable(),
  onSchemaMismatch: () => sync.requestSchemaCheck(),
  onNumberNotWritten: () => log.warn({}, 'the number of a new order was not written to NocoDB'),
})
const sync = createSyncLoop({
  table,
  replica,
  findMismatches: async () =>
    findSchemaMismatches(await fetchColumns(client, baseId, tableId), titles),
  recordEdit: writes.recordEdit,
  getPauseMs: client.getPauseMs,
  intervalMs: settings.syncIntervalMs,
  log,
  onState: (state) => send({ state }),
  onCorruption: () => send({ isCorrupt: true }),
})

async function handleRequest({ requestId, task }: WriteRequest): Promise<void> {
  try {
    send({ requestId, result: await writes.execute(task) })
  } catch (error) {
    if (isCorruption(error)) {
      send({ isCorrupt: true })
      send({ requestId, rejection: changeUnconfirmed().rejection })
    } else if (error instanceof WriteRejectedError) send({ requestId, rejection: error.rejection })
    else send({ requestId, error })
  }
}

port.on('message', (message: MessageToWorker) => {
  if (message === 'stop') sync.stop()
  else void handleRequest(message)
})

await sync.run()
await client.close()
db.close()
port.close()
