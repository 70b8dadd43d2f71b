import type { Postgres } from '../../../database/postgres.js'
import { FOLDING_VERSION } from '../../../core/formatting/fold-text.js'
import { foldRow, KEY_COLUMNS, NAME_COLUMNS, type OrderRow } from '../sql/order-row.js'
import { toGrams } from './grams.js'

const BATCH_SIZE = 1_000

const COLUMNS = ['id', ...NAME_COLUMNS, ...KEY_COLUMNS] as const
type Row = Pick<OrderRow, (typeof COLUMNS)[number]> & { text: string }

/** Recomputes the search texts and sort keys of a batch of orders; returns the last ID. */
const foldBatch = (postgres: Postgres, lastId: number): Promise<number | undefined> =>
  postgres.migrate(async (tx) => {
    // Locked, because other processes may change the orders.
    const rows = await tx.query<Row>(
      `SELECT ${COLUMNS.join(', ')}, text FROM orders JOIN order_search ON order_id = id
       WHERE id > ? ORDER BY id LIMIT ${BATCH_SIZE} FOR UPDATE`,
      [lastId],
    )
    for (const row of rows) {
      const folded = foldRow(row)
      if (KEY_COLUMNS.some((name) => folded[name] !== row[name])) {
        await tx.query(
          `UPDATE orders SET ${KEY_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
          [...KEY_COLUMNS.map((name) => folded[name]), row.id],
        )
      }
      if (folded.text !== row.text) {
        await tx.query('UPDATE order_search SET text = ?, grams = ? WHERE order_id = ?', [
          folded.text,
          toGrams(folded.text),
          row.id,
        ])
      }
    }
    return rows.at(-1)?.id
  })

/** Recomputes search texts and sort keys that an earlier version wrote. */
export async function foldSearchTexts(postgres: Postgres): Promise<void> {
  const [row] = await postgres.query<{ value: string }>(
    "SELECT value FROM settings WHERE name = 'folding'",
  )
  if (row?.value === FOLDING_VERSION) return
  for (let id: number | undefined = 0; id !== undefined;) id = await foldBatch(postgres, id)
  await postgres.query(
    `INSERT INTO settings VALUES ('folding', ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [FOLDING_VERSION],
  )
}
