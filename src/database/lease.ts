import type { Database } from './database.js'

/** The time of the database, ms since 1970, because the clocks of processes may differ. */
export const DATABASE_NOW: Record<Database['engine'], string> = {
  sqlite: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  postgres: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
}

interface Lease {
  name: string
  /** Identifies the process */
  holder: string
}

/**
 * Takes a lease, or extends it. Returns `false` if another process holds it. A lease that ends later
 * than it could is from a clock that was wrong, and counts as expired.
 */
export async function takeLease(
  database: Database,
  { name, holder }: Lease,
  ttlMs: number,
): Promise<boolean> {
  const now = DATABASE_NOW[database.engine]
  const taken = await database.query(
    `INSERT INTO leases AS lease VALUES (?, ?, ${now} + ?)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
     WHERE lease.holder = excluded.holder OR lease.expires_at <= ${now}
       OR lease.expires_at > excluded.expires_at
     RETURNING holder`,
    [name, holder, ttlMs],
  )
  return taken.length > 0
}

/** Releases a lease, so that another process can take it at once. */
export async function releaseLease(database: Database, { name, holder }: Lease): Promise<void> {
  await database.query('DELETE FROM leases WHERE name = ? AND holder = ?', [name, holder])
}
