import { createDayCalendar, isSameTimeZone } from '../../core/formatting/day-calendar.js'
import { FOLDING_VERSION } from '../../core/formatting/text.js'
import { Problem } from '../../core/http/problem.js'
import type { Database, Queryable } from '../../database/database.js'
import { DIALECTS } from './dialect.js'
import { KEY_COLUMNS, NAME_COLUMNS, toNames, toSortKeys, type OrderRow } from './order-row.js'
import { toSearchText } from './search-text.js'
import { recountTotals } from './totals.js'

async function readSetting(tx: Queryable, name: string, suffix = ''): Promise<string> {
  const sql = `SELECT value FROM settings WHERE name = ? ${suffix}`
  const [row] = await tx.query<{ value: string }>(sql, [name])
  return row?.value ?? ''
}

/** The time zone of the totals. */
export const readTimeZone = (tx: Queryable): Promise<string> => readSetting(tx, 'time_zone')

/** Throws a Problem (503) if another process has changed the time zone of the totals. */
export async function checkTimeZone(tx: Queryable, timeZone: string): Promise<void> {
  const current = await readTimeZone(tx)
  if (isSameTimeZone(current, timeZone)) return
  throw new Problem(
    503,
    `Another process uses the order database with TIME_ZONE ${current}, this one with ${timeZone}: set the same TIME_ZONE for all processes.`,
  )
}

/** Sets the time zone of a database; counts its totals again if it changes. */
export async function setTimeZone(database: Database, timeZone: string): Promise<void> {
  if (isSameTimeZone(await readTimeZone(database), timeZone)) return
  const { forUpdate } = DIALECTS[database.engine]
  await database.migrate(async (tx) => {
    if (isSameTimeZone(await readSetting(tx, 'time_zone', forUpdate), timeZone)) return
    await tx.query("UPDATE settings SET value = ? WHERE name = 'time_zone'", [timeZone])
    await recountTotals(tx, createDayCalendar(timeZone))
  })
}

const BATCH_SIZE = 1_000

const COLUMNS = ['id', ...NAME_COLUMNS, ...KEY_COLUMNS] as const
type FoldedRow = Pick<OrderRow, (typeof COLUMNS)[number]> & { text: string }

/** Recomputes the search texts and sort keys of a batch of orders; returns the last ID. */
function foldBatch(database: Database, lastId: number): Promise<number | undefined> {
  const dialect = DIALECTS[database.engine]
  return database.migrate(async (tx) => {
    // Locked, because other processes may change the orders.
    await tx.query(
      `SELECT id FROM orders WHERE id > ? ORDER BY id LIMIT ${BATCH_SIZE} ${dialect.forUpdate}`,
      [lastId],
    )
    const rows = await tx.query<FoldedRow>(
      `SELECT ${COLUMNS.map((name) => `orders.${name}`).join(', ')}, text
       FROM orders JOIN ${dialect.texts} ON texts.id = orders.id
       WHERE orders.id > ? ORDER BY orders.id LIMIT ${BATCH_SIZE}`,
      [lastId],
    )
    for (const row of rows) {
      const names = toNames(row)
      const keys = toSortKeys(names)
      if (KEY_COLUMNS.some((name) => keys[name] !== row[name])) {
        await tx.query(
          `UPDATE orders SET ${KEY_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
          [...KEY_COLUMNS.map((name) => keys[name]), row.id],
        )
      }
      const text = toSearchText(names)
      if (text !== row.text) await dialect.replaceText(tx, row, text)
    }
    return rows.at(-1)?.id
  })
}

/** Recomputes search texts and sort keys that an earlier version wrote. */
export async function foldSearchTexts(database: Database): Promise<void> {
  if ((await readSetting(database, 'folding')) === FOLDING_VERSION) return
  let lastId: number | undefined = 0
  while (lastId !== undefined) lastId = await foldBatch(database, lastId)
  await database.write((tx) =>
    tx.query(
      `INSERT INTO settings VALUES ('folding', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [FOLDING_VERSION],
    ),
  )
}
