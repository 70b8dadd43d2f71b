import {
  getOrderStorePath,
  openOrderDatabase,
  type OrderDatabase,
} from './sqlite/sqlite-order-store.js'

/** How far what is shown may lag behind the truth. */
export interface Freshness {
  /** It shows what the truth was at this moment, ISO 8601; `null` while there is nothing to show */
  asOf: string | null
  /** What keeps it from catching up, a sentence without its end; `null` where nothing does */
  trouble: string | null
  /** Whether orders can be changed all the same */
  takesChanges: boolean
}

/** Where orders are kept: in a book of our own, or in NocoDB with a book as its copy. */
export interface OrderStore extends OrderDatabase {
  /** The file of the book that is read from */
  path: string
  /** How old what is shown is; `null` where the book is the truth */
  freshness: () => Freshness | null
  /** Whether orders can be read, and in words how things stand */
  readiness: () => { ready: boolean; detail: string }
}

/** Orders in a book of our own. Throws DatabaseError. */
export function openSqliteOrderStore(dataDir: string, timeZone: string): OrderStore {
  const path = getOrderStorePath(dataDir)
  const book = openOrderDatabase({ path, timeZone })
  return {
    ...book,
    path,
    freshness: () => null,
    readiness() {
      book.check()
      const trouble = book.diskTrouble()
      return trouble === null
        ? { ready: true, detail: 'the order book can be read' }
        : { ready: false, detail: `the order book takes no changes: ${trouble}` }
    },
  }
}
