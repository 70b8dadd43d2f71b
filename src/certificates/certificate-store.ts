import type { Queryable } from '../database/database.js'
import { getCertificateNumber, type Certificate, type CertificateContent } from './certificate.js'

const CODE = /^[\w-]{22}$/
const NUMBER = /^[2-9A-Z]{4}-[2-9A-Z]{4}$/

interface Row {
  code: string
  order_id: string
  content: string
  issued_at: number
}

const toCertificate = ({ code, order_id, content, issued_at }: Row): Certificate => ({
  code,
  orderId: order_id,
  issuedAt: new Date(issued_at).toISOString(),
  content: JSON.parse(content) as CertificateContent,
})

const COLUMNS = 'code, order_id, content, issued_at'

/** Returns the certificate with a code; `null` if there is none. */
export async function findCertificate(tx: Queryable, code: string): Promise<Certificate | null> {
  if (!CODE.test(code)) return null
  const [row] = await tx.query<Row>(`SELECT ${COLUMNS} FROM certificates WHERE code = ?`, [code])
  return row === undefined ? null : toCertificate(row)
}

const BATCH_SIZE = 1_000

/**
 * Returns the IDs of the orders whose certificates have a number such as `7KQ2-M9XP`. Numbers are
 * not stored, so it computes those of all certificates, in batches.
 */
export async function findOrdersByNumber(tx: Queryable, number: string): Promise<string[]> {
  const wanted = number.toUpperCase()
  if (!NUMBER.test(wanted)) return []
  const found: string[] = []
  let last: string | undefined = ''
  while (last !== undefined) {
    const rows: Pick<Row, 'code' | 'order_id'>[] = await tx.query(
      `SELECT code, order_id FROM certificates WHERE code > ? ORDER BY code LIMIT ${BATCH_SIZE}`,
      [last],
    )
    const matches = rows.filter((row) => getCertificateNumber(row) === wanted)
    found.push(...matches.map(({ order_id }) => order_id))
    last = rows.at(-1)?.code
  }
  return found
}

/** Returns the newest certificate of an order; `null` if it has none. */
export async function findOrderCertificate(
  tx: Queryable,
  orderId: string,
): Promise<Certificate | null> {
  const [row] = await tx.query<Row>(
    `SELECT ${COLUMNS} FROM certificates WHERE order_id = ? ORDER BY issued_at DESC, code LIMIT 1`,
    [orderId],
  )
  return row === undefined ? null : toCertificate(row)
}

/**
 * Erases the beneficiary from the certificates of an order.
 *
 * @param except the name of the current customer, whose certificates keep it
 */
export async function eraseBeneficiary(
  tx: Queryable,
  orderId: string,
  except: string | null = null,
): Promise<void> {
  const rows = await tx.query<Row>(`SELECT ${COLUMNS} FROM certificates WHERE order_id = ?`, [
    orderId,
  ])
  for (const row of rows) {
    const { code, content } = toCertificate(row)
    if (except !== null && content.beneficiary === except) continue
    const erased: CertificateContent = { ...content, beneficiary: null, isPublic: false }
    await tx.query('UPDATE certificates SET content = ? WHERE code = ?', [
      JSON.stringify(erased),
      code,
    ])
  }
}

/** Adds the certificate that a message issues; returns `false` if it already exists. */
export async function insertCertificate(
  tx: Queryable,
  { code, orderId, issuedAt, content }: Certificate,
  messageId: string,
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO certificates (code, order_id, issued_for, content, issued_at)
     VALUES (?, ?, ?, ?, ?) ON CONFLICT (issued_for) DO NOTHING RETURNING code`,
    [code, orderId, messageId, JSON.stringify(content), Date.parse(issuedAt)],
  )
  return rows.length > 0
}
