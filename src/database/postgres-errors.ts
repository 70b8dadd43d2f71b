import { DatabaseUnavailableError } from './database.js'

/** A connection could not be opened, for whatever reason: network, TLS, authorization, limits. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  constructor(cause: unknown) {
    super('cannot connect to PostgreSQL', { cause })
  }
}

const getCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code)

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host was not found',
  '25006': 'it is read-only',
  '28000': 'access was denied',
  '28P01': 'the password was rejected',
  '3D000': 'the database does not exist',
  '53100': 'its disk is full',
  '53300': 'it has no free connection',
  '57P03': 'it is starting',
}

/** OpenSSL (X509_V_ERR_…) and Node error codes */
const CERTIFICATE_CODES = /CERT|ISSUER|LEAF_SIGNATURE|HOSTNAME_MISMATCH/

/** Describes an error without hosts, users or values. */
const describePostgresError = (error: unknown): string => {
  if (error instanceof ConnectionError) return describePostgresError(error.cause)
  const code = getCode(error)
  if (CERTIFICATE_CODES.test(code)) {
    return `its certificate cannot be verified (${code}); see sslmode in docs/deployment.md`
  }
  const reason = REASONS[code]
  if (reason !== undefined) return `${reason} (${code})`
  if (code !== '') return code
  return error instanceof Error ? error.message : String(error)
}

/** 40001 serialization_failure, 40P01 deadlock_detected: the same transaction may succeed now. */
const CONFLICTS = ['40001', '40P01']
export const isConflict = (error: unknown): boolean => CONFLICTS.includes(getCode(error))

/**
 * Classes of errors that are not caused by the query: connection, authorization, missing database,
 * insufficient resources, operator intervention, system error; and a server that has become a
 * read-only replica.
 */
const UNAVAILABLE = /^(?:08|28|3D|53|57|58)|^25006$/

/** Messages of driver errors, which have no code. */
const CONNECTION_LOST =
  /^(?:Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client (?:was closed|has encountered))/i

/** The error to throw after a failure of the connection or the server. */
export const createUnavailableError = (cause: unknown): DatabaseUnavailableError =>
  new DatabaseUnavailableError(`PostgreSQL is not available: ${describePostgresError(cause)}`, {
    cause,
  })

/** Whether an error, even from another thread, concerns the connection or server, not the query. */
export const isUnavailable = (error: unknown): boolean => {
  // Errors from other threads keep their name, but not their class.
  if (error instanceof Error && error.name === 'ConnectionError') return true
  const code = getCode(error)
  if (isSqlState(code)) return UNAVAILABLE.test(code)
  return /^E[A-Z]+/.test(code) || (error instanceof Error && CONNECTION_LOST.test(error.message))
}

/** Whether an error means that `constraint`, or any unique constraint by default, was violated. */
export const isDuplicate = (error: unknown, constraint?: string): boolean =>
  getCode(error) === '23505' &&
  (constraint === undefined || (error as { constraint?: string }).constraint === constraint)

/**
 * Whether an error means that the object that a statement creates already exists: 42710
 * duplicate_object, 42P07 duplicate_table.
 */
export const existsAlready = (error: unknown): boolean =>
  ['42710', '42P07'].includes(getCode(error))
