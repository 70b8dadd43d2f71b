import { getDatabasePath } from '../../src/database/database-plugin.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import type { Order } from '../../src/orders/order.js'
import { importMany, StagedOrders } from '../../src/orders/store/import-many.js'
import { typicalOrders } from '../support/orders.js'

/** Mulberry32: a deterministic random number generator. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const TYPES = ['fuel', 'fuel', 'distance', 'custom'] as const
const CURRENCIES = ['EUR', 'EUR', 'EUR', 'USD', 'GBP', 'NOK', 'JPY']
const STATUSES = [
  'pending',
  'paid',
  'processing',
  ...Array<'fulfilled'>(5).fill('fulfilled'),
  'refunded',
  'cancelled',
] as const

const FIRST_NAMES =
  'Anna Ben Carla Dimitri Elena Farid Grace Hanna Ivan Julia Kofi Lucia Marek Nadia Olaf Priya Quentin Rosa Sven Tomas'.split(
    ' ',
  )
const LAST_NAMES =
  'Almeida Berg Costa Dubois Evans Fischer Garcia Hansen Ito Jensen Kowalski Lopez Müller Nakamura Okafor Petrov Quinn Rossi Silva Tanaka Ueda Vargas Weber Yilmaz'.split(
    ' ',
  )
const MAIL_HOSTS = 'example.com example.com example.com example.org example.net mail.example'.split(
  ' ',
)

/** One in 4,000 orders has each of these names. */
const RARE_NAMES: Readonly<Record<number, string>> = { 1: 'Οδυσσεύς Ψαρράς', 2: '雨宮 海斗' }
const RARITY = 4_000

/** Generates orders of the last two years whose fields are not correlated. */
function* createOrders(count: number): Generator<Order> {
  const next = createRandom(1)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T
  for (const order of typicalOrders(count)) {
    const placedAt = new Date(Date.now() - next() * 730 * 86_400_000).toISOString()
    const calculatorType = pick(TYPES)
    const [first, last] = [pick(FIRST_NAMES), pick(LAST_NAMES)]
    const mailbox = `${first}.${last}${Number(order.id) % 9_973}`.toLowerCase()
    yield {
      ...order,
      customerName: RARE_NAMES[Number(order.id) % RARITY] ?? `${first} ${last}`,
      customerEmail: `${mailbox}@${pick(MAIL_HOSTS)}`,
      placedAt,
      calculatorType,
      calculatorData: calculatorType === 'fuel' ? order.calculatorData : null,
      status: pick(STATUSES),
      currency: pick(CURRENCIES),
    }
  }
}

/** Creates the order database of a data folder, with the given number of orders. */
export async function fillDatabase(dataDir: string, count: number): Promise<void> {
  const database = openSqliteDatabase(getDatabasePath(dataDir))
  const staged = new StagedOrders()
  for (const order of createOrders(count)) staged.add({ order, by: 'bench', history: [] })
  await importMany(database, staged, { maxConflicts: 1 })
  await database.close()
}
