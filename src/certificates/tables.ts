import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/** Certificates. */
const CERTIFICATES = [
  `CREATE TABLE certificates (
    code TEXT PRIMARY KEY,              -- random; part of its URL
    order_id TEXT NOT NULL,
    issued_for TEXT NOT NULL UNIQUE,    -- ID of the message that it was issued for
    content TEXT NOT NULL,              -- JSON: CertificateContent
    issued_at BIGINT NOT NULL           -- ms since 1970
  )`,
  'CREATE INDEX certificates_by_order ON certificates (order_id, issued_at)',
]

export default { 12: { both: CERTIFICATES } } satisfies Migrations
