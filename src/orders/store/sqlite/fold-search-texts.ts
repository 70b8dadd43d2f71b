import type { Database } from 'better-sqlite3'
import { FOLDING_VERSION } from '../../../core/formatting/fold-text.js'
import { foldRow, KEY_COLUMNS, NAME_COLUMNS, type OrderRow } from '../sql/order-row.js'
import { readSetting, writeSetting } from './settings.js'

const BATCH_SIZE = 1_000

const COLUMNS = ['id', ...NAME_COLUMNS, ...KEY_COLUMNS] as const
type Row = Pick<OrderRow, (typeof COLUMNS)[number]> & { text: string }

/** Recomputes search texts and sort keys that an earlier version wrote, in one transaction. */
export function foldSearchTexts(db: Database): void {
  if (readSetting(db, 'folding') === FOLDING_VERSION) return
  const select = db.prepare<[number], Row>(
    `SELECT ${COLUMNS.join(', ')}, text FROM orders JOIN search_texts USING (id)
     WHERE id > ? ORDER BY id LIMIT ${BATCH_SIZE}`,
  )
  const updateKeys = db.prepare<Row>(
    `UPDATE orders SET ${KEY_COLUMNS.map((name) => `${name} = @${name}`).join(', ')} WHERE id = @id`,
  )
  const updateText = db.prepare<Row>('UPDATE search_texts SET text = @text WHERE id = @id')
  const removeFromIndex = db.prepare<Row>(
    "INSERT INTO search_index (search_index, rowid, text) VALUES ('delete', @id, @text)",
  )
  const addToIndex = db.prepare<Row>('INSERT INTO search_index (rowid, text) VALUES (@id, @text)')
  db.transaction(() => {
    for (let rows = select.all(0); rows.length > 0; rows = select.all(rows.at(-1)?.id ?? 0)) {
      for (const row of rows) {
        const folded = { ...row, ...foldRow(row) }
        if (KEY_COLUMNS.some((name) => folded[name] !== row[name])) updateKeys.run(folded)
        if (folded.text === row.text) continue
        removeFromIndex.run(row)
        updateText.run(folded)
        addToIndex.run(folded)
      }
    }
    writeSetting(db, 'folding', FOLDING_VERSION)
  }).immediate()
}
