/* Tables for both databases. Part of migrations: never edit a released one. */

/** Certificates. */
export const CERTIFICATE_TABLES: readonly string[] = [
  `CREATE TABLE certificates (
    code TEXT PRIMARY KEY,              -- random; part of its URL
    order_id TEXT NOT NULL,
    issued_for TEXT NOT NULL UNIQUE,    -- ID of the message that it was issued for
    content TEXT NOT NULL,              -- JSON: CertificateContent
    issued_at BIGINT NOT NULL           -- ms since 1970
  )`,
  'CREATE INDEX certificates_by_order ON certificates (order_id, issued_at)',
]
