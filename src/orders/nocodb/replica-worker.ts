import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { isDamage } from '../book/book-error.js'
import { nocoDbClient } from './nocodb-client.js'
import { orderWrites } from './order-writes.js'
import { ordersTable } from './orders-table.js'
import type {
  FromThread,
  ReplicaTask,
  ToThread,
  WriteOutcome,
  WriteQuestion,
  WriteTask,
} from './replica-messages.js'
import { replica as openReplica } from './replica.js'
import type { ThreadLog } from './sync-state.js'
import { synchroniser } from './synchroniser.js'
import { misfits, readColumns } from './table-fit.js'
import { changeUnknown, WriteRefused } from './write-refusal.js'

/*
 * The thread that asks NocoDB, for everything that this process wants of it: it keeps the copy up
 * and writes orders. Other threads read the copy.
 */

if (parentPort === null) throw new Error('a copy is kept in a thread of its own')
const port = parentPort
const { path, settings } = workerData as ReplicaTask
const { baseId, tableId, titles } = settings

const tell = (message: FromThread): void => port.postMessage(message)
const entry =
  (level: keyof ThreadLog): ThreadLog['info'] =>
  (details, message) =>
    tell({ level, details, message })
const log: ThreadLog = { info: entry('info'), warn: entry('warn'), error: entry('error') }

const db = new Database(path)
// What a crash of the machine takes from the copy comes again from NocoDB.
db.pragma('synchronous = NORMAL')
const replica = openReplica(db, titles)
const client = nocoDbClient(settings)
const table = ordersTable(client, { baseId, tableId, titles })
const writes = orderWrites({
  table,
  replica,
  titles,
  requireWritable: () => sync.requireWritable(),
  onMisfit: () => sync.doubtFit(),
  onUnnumbered: () => log.warn({}, 'the number of a new order was not written to NocoDB'),
})
const sync = synchroniser({
  table,
  replica,
  findMisfits: async () => misfits(await readColumns(client, baseId, tableId), titles),
  adopt: (id) => writes.adopt(id),
  pausedFor: client.pausedFor,
  intervalMs: settings.syncIntervalMs,
  log,
  onState: (state) => tell({ state }),
  onDamage: () => tell({ isDamaged: true }),
})

function done(task: WriteTask): Promise<WriteOutcome> {
  switch (task.kind) {
    case 'create':
      return writes.create(task.given, task.by, task.idempotencyKey)
    case 'change':
      return writes.change(task.id, task.changes, task.context)
    case 'cancel':
      return writes.cancel(task.id, task.context)
    case 'undo':
      return writes.undo(task.id, task.context)
    case 'notePlacement':
      return writes.notePlacement(task.id, task.step, task.context)
  }
}

async function answer({ number, task }: WriteQuestion): Promise<void> {
  try {
    tell({ number, outcome: await done(task) })
  } catch (error) {
    if (isDamage(error)) {
      tell({ isDamaged: true })
      tell({ number, refusal: changeUnknown().refusal })
    } else if (error instanceof WriteRefused) tell({ number, refusal: error.refusal })
    else tell({ number, error })
  }
}

port.on('message', (message: ToThread) => {
  if (message === 'stop') sync.stop()
  else void answer(message)
})

await sync.run()
await client.close()
db.close()
port.close()
