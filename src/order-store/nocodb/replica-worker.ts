import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { isCorruption } from '../../database/database-error.js'
import { createNocoDbClient } from './nocodb-client.js'
import { createOrderWrites } from './order-writes.js'
import { createOrdersTable } from './orders-table.js'
import type {
  FromWorker,
  ReplicaTask,
  ToWorker,
  WriteResult,
  WriteRequest,
  WriteTask,
} from './replica-messages.js'
import { openReplica } from './replica.js'
import type { WorkerLog } from './sync-state.js'
import { createSyncLoop } from './sync-loop.js'
import { findSchemaMismatches, parseColumns } from './schema-check.js'
import { changeUnconfirmed, WriteRejectedError } from './write-rejection.js'

/*
 * The thread that asks NocoDB, for everything that this process wants of it: it keeps the copy up
 * and writes orders. Other threads read the copy.
 */

if (parentPort === null) throw new Error('a copy is kept in a thread of its own')
const port = parentPort
const { path, settings } = workerData as ReplicaTask
const { baseId, tableId, titles } = settings

const tell = (message: FromWorker): void => port.postMessage(message)
const entry =
  (level: keyof WorkerLog): WorkerLog['info'] =>
  (details, message) =>
    tell({ level, details, message })
const log: WorkerLog = { info: entry('info'), warn: entry('warn'), error: entry('error') }

const db = new Database(path)
// What a crash of the machine takes from the copy comes again from NocoDB.
db.pragma('synchronous = NORMAL')
const replica = openReplica(db, titles)
const client = createNocoDbClient(settings)
const table = createOrdersTable(client, { baseId, tableId, titles })
const writes = createOrderWrites({
  table,
  replica,
  titles,
  requireWritable: () => sync.requireWritable(),
  onMisfit: () => sync.doubtFit(),
  onUnnumbered: () => log.warn({}, 'the number of a new order was not written to NocoDB'),
})
const sync = createSyncLoop({
  table,
  replica,
  findMisfits: async () =>
    findSchemaMismatches(await parseColumns(client, baseId, tableId), titles),
  adopt: (id) => writes.adopt(id),
  pausedFor: client.pausedFor,
  intervalMs: settings.syncIntervalMs,
  log,
  onState: (state) => tell({ state }),
  onDamage: () => tell({ isDamaged: true }),
})

function done(task: WriteTask): Promise<WriteResult> {
  switch (task.kind) {
    case 'create':
      return writes.create(task.given, task.by, task.idempotencyKey)
    case 'apply':
      return writes.apply(task.id, task.command, task.context)
  }
}

async function answer({ number, task }: WriteRequest): Promise<void> {
  try {
    tell({ number, outcome: await done(task) })
  } catch (error) {
    if (isCorruption(error)) {
      tell({ isDamaged: true })
      tell({ number, refusal: changeUnconfirmed().refusal })
    } else if (error instanceof WriteRejectedError) tell({ number, refusal: error.refusal })
    else tell({ number, error })
  }
}

port.on('message', (message: ToWorker) => {
  if (message === 'stop') sync.stop()
  else void answer(message)
})

await sync.run()
await client.close()
db.close()
port.close()
