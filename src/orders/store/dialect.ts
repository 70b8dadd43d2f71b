/** What differs between the SQL of SQLite and PostgreSQL. */
export interface Dialect {
  /** Makes a query read `orders` along an index; PostgreSQL chooses well by itself */
  indexedBy: (index: string) => string
}

const SQLITE: Dialect = { indexedBy: (index) => `INDEXED BY ${index}` }
const POSTGRES: Dialect = { indexedBy: () => '' }

export const DIALECTS = { sqlite: SQLITE, postgres: POSTGRES }
