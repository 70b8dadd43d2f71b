import { join } from 'node:path'

/** The path of the SQLite database in the data directory. */
export const getDatabasePath = (dataDir: string): string => join(dataDir, 'orders.db')
