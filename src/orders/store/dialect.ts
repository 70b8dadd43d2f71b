import { insertRows, type Queryable, type SqlValue } from '../../database/database.js'
import { toGrams } from './search-text.js'

/** Part of a query and its parameters. */
export interface SqlFragment {
  sql: string
  values: SqlValue[]
}

/** The search text of an order. */
interface TextRow {
  id: number
  text: string
}

/** What differs between the SQL of SQLite and PostgreSQL. */
export interface Dialect {
  /** Makes a query read `orders` along an index; PostgreSQL chooses well by itself */
  indexedBy: (index: string) => string
  isOneOf: (column: string, values: readonly (string | number)[]) => SqlFragment
  isNoneOf: (column: string, values: readonly string[]) => SqlFragment
  /** The search texts in a FROM clause, as `texts` with the columns `id` and `text` */
  texts: string
  /** Whether the column `text` contains the parameter */
  containsText: string
  /** Whether the search index can look up a part of a word, of up to three characters */
  canLookUp: (gram: string) => boolean
  /** Texts that contain all these parts; there is at least one */
  hasGrams: (grams: readonly string[]) => SqlFragment
  addTexts: (tx: Queryable, rows: readonly TextRow[]) => Promise<void>
  /** @param text replaces the text of `row`; `null` removes it */
  replaceText: (tx: Queryable, row: TextRow, text: string | null) => Promise<void>
  /** Takes the `id` and the `number` of a new order */
  next: string
  /** Sets the next number, and continues IDs after the highest one, after an import */
  continueNumbers: (tx: Queryable, nextNumber: number) => Promise<void>
  /** Keeps others from writing to a table until the end of the transaction */
  lockTable: (tx: Queryable, table: string) => Promise<void>
  /** Locks the selected rows until the end of the transaction */
  forUpdate: string
  /** A query for the provider's IDs of placed orders in the history: order_id, source_id */
  placements: string
}

const LAST_CHARACTER = 0x10ffff
/** Is in no text. */
const NO_TERM = `'"' || char(${Array(3).fill(LAST_CHARACTER).join(', ')}) || '"'`

const SQLITE: Dialect = {
  indexedBy: (index) => `INDEXED BY ${index}`,
  isOneOf: (column, values) => ({
    sql: `${column} IN (SELECT value FROM json_each(?))`,
    values: [JSON.stringify(values)],
  }),
  isNoneOf: (column, values) => ({
    sql: `${column} NOT IN (SELECT value FROM json_each(?))`,
    values: [JSON.stringify(values)],
  }),
  texts: 'search_texts AS texts',
  containsText: 'instr(text, ?) > 0',
  // Two characters are the start of indexed groups of three, except at the end of a text, which is
  // the IMO number, or a line break after the name of the vessel. One can be before that line break.
  canLookUp: (gram) => /^(?!\d\d$).{2,3}$/su.test(gram),
  hasGrams: (grams) => ({
    sql: `texts.id IN (SELECT rowid FROM search_index WHERE search_index MATCH (
      SELECT group_concat('(' || coalesce((
        SELECT group_concat('"' || replace(term, '"', '""') || '"', ' OR ') FROM search_terms
        WHERE term >= grams.value AND term < grams.value || char(${LAST_CHARACTER})
      ), ${NO_TERM}) || ')', ' AND ') FROM json_each(?) AS grams))`,
    values: [JSON.stringify(grams)],
  }),
  async addTexts(tx, rows) {
    await insertRows(tx, 'search_texts', ['id', 'text'], rows)
    const indexed = rows.map(({ id, text }) => ({ rowid: id, text }))
    await insertRows(tx, 'search_index', ['rowid', 'text'], indexed)
  },
  async replaceText(tx, row, text) {
    // The index needs exactly the text that was added.
    await tx.query("INSERT INTO search_index (search_index, rowid, text) VALUES ('delete', ?, ?)", [
      row.id,
      row.text,
    ])
    await tx.query('DELETE FROM search_texts WHERE id = ?', [row.id])
    if (text !== null) await SQLITE.addTexts(tx, [{ id: row.id, text }])
  },
  next: `UPDATE settings SET value = CAST(value AS INTEGER) + 1
    WHERE name = 'next_order_number'
    RETURNING CAST(value AS INTEGER) - 1 AS number,
      (SELECT coalesce(max(id), 0) + 1 FROM orders) AS id`,
  async continueNumbers(tx, nextNumber) {
    await tx.query("UPDATE settings SET value = ? WHERE name = 'next_order_number'", [
      String(nextNumber),
    ])
  },
  // Writers have locked the whole file.
  lockTable: async () => undefined,
  forUpdate: '',
  placements: `SELECT order_id, change.value ->> '$.to.orderSourceId' AS source_id
    FROM changes INDEXED BY changes_placed CROSS JOIN json_each(changes.changes) AS change
    WHERE instr(changes.changes, '"state":"placed"') > 0
      AND change.value ->> 'field' = 'placement' AND change.value ->> '$.to.state' = 'placed'`,
}

const POSTGRES: Dialect = {
  indexedBy: () => '',
  isOneOf: (column, values) => ({
    sql: `${column} = ANY(?::${typeof values[0] === 'string' ? 'text' : 'bigint'}[])`,
    values: [values],
  }),
  isNoneOf: (column, values) => ({ sql: `${column} <> ALL(?::text[])`, values: [values] }),
  texts: '(SELECT order_id AS id, text, grams FROM order_search) AS texts',
  containsText: 'position(? IN text) > 0',
  canLookUp: () => true,
  hasGrams: (grams) => ({ sql: 'grams @> ?::text[]', values: [grams] }),
  async addTexts(tx, rows) {
    const indexed = rows.map(({ id, text }) => ({ order_id: id, text, grams: toGrams(text) }))
    await insertRows(tx, 'order_search', ['order_id', 'text', 'grams'], indexed)
  },
  async replaceText(tx, { id }, text) {
    if (text === null) await tx.query('DELETE FROM order_search WHERE order_id = ?', [id])
    else {
      await tx.query('UPDATE order_search SET text = ?, grams = ? WHERE order_id = ?', [
        text,
        toGrams(text),
        id,
      ])
    }
  },
  next: "SELECT nextval('order_ids') AS id, nextval('order_numbers') AS number",
  async continueNumbers(tx, nextNumber) {
    await tx.query(
      `SELECT setval('order_ids', greatest(
         (SELECT coalesce(max(id), 1) FROM orders), (SELECT last_value FROM order_ids)
       ), (SELECT max(id) IS NOT NULL FROM orders) OR (SELECT is_called FROM order_ids))`,
    )
    await tx.query("SELECT setval('order_numbers', ?, FALSE)", [nextNumber])
  },
  async lockTable(tx, table) {
    await tx.query(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`)
  },
  forUpdate: 'FOR UPDATE',
  placements: `SELECT order_id, change -> 'to' ->> 'orderSourceId' AS source_id
    FROM changes CROSS JOIN jsonb_array_elements(changes.changes::jsonb) AS change
    WHERE position('"state":"placed"' IN changes.changes) > 0
      AND change ->> 'field' = 'placement' AND change -> 'to' ->> 'state' = 'placed'`,
}

export const DIALECTS = { sqlite: SQLITE, postgres: POSTGRES }
