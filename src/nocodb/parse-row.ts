import { validateCalculation } from '../calculator/validate-calculation.js'
import { getClearedTimestamps } from '../orders/change-order.js'
import {
  getStatusFields,
  getTransitions,
  inferStatusFields,
  type StatusRecord,
} from '../orders/order-status.js'
import type { FieldChange, HistoryEntry, Order } from '../orders/order.js'
import {
  decodeCell,
  matchesWrittenValue,
  ORDER_FIELDS,
  parseTimestamp,
  toNumber,
  type ColumnTitles,
  type OrderField,
  type Row,
} from './columns.js'
import { parseRecord, type OrderRecord, type RecordedOrder } from './order-record.js'

/** User name for edits made in NocoDB, because NocoDB does not report users. */
export const NOCODB_USER = 'NocoDB'

/** An invalid cell. */
export interface CellError {
  column: string
  /** A predicate such as "is not JSON" */
  error: string
}

/** The order in a row. */
export interface ParsedRow {
  order: Omit<Order, 'orderNumber'> & { orderNumber: string | null }
  /** User who created the order */
  by: string
  /** Entries from the second version on, oldest first */
  history: HistoryEntry[]
  /** Hash of the request that had the idempotency key */
  request: string | null
  /** Whether the latest version is an edit made in NocoDB that is not recorded in the row yet */
  isEdited: boolean
  /** Cells that are shown as empty */
  errors: CellError[]
}

type ParseRowResult = { ok: true; parsed: ParsedRow } | { ok: false; errors: CellError[] }

/**
 * A row is not a valid order if one of these fields is invalid, or is empty and has no default.
 * Other invalid cells are shown as empty.
 */
const REQUIRED: readonly OrderField[] = [
  'status',
  'customerName',
  'customerEmail',
  'co2eKg',
  'amountMinor',
  'currency',
  'placedAt',
]

const DEFAULTS: Partial<Record<OrderField, unknown>> = { status: 'pending', notes: '' }

const isCalculation = (type: Order['calculatorType'] | undefined, data: unknown): boolean =>
  type != null && validateCalculation(type, structuredClone(data)).ok

/**
 * Returns the recorded values of cells that were not edited since the last write, and the decoded
 * values of the other cells.
 */
function decodeCells(row: Row, titles: ColumnTitles, record: OrderRecord | null) {
  const values: Record<string, unknown> = {}
  const errors: CellError[] = []
  let isValid = true
  for (const field of ORDER_FIELDS) {
    const column = titles[field]
    const cell = row[column]
    const recorded = field === 'orderNumber' ? undefined : record?.order[field]
    if (recorded !== undefined && matchesWrittenValue(field, cell, recorded)) {
      values[field] = recorded
      continue
    }
    const decoded = decodeCell(field, cell)
    if (!decoded.ok) {
      errors.push({ column, error: decoded.error })
      values[field] = DEFAULTS[field] ?? null
      if (REQUIRED.includes(field)) isValid = false
      continue
    }
    const created = field === 'placedAt' ? parseTimestamp(row.CreatedAt) : null
    values[field] = decoded.value ?? DEFAULTS[field] ?? created
    if (values[field] === null && REQUIRED.includes(field)) {
      errors.push({ column, error: 'is empty' })
      isValid = false
    }
  }
  const { calculatorType, calculatorData } = values as Partial<Order>
  const isUnchanged = calculatorData == null || calculatorData === record?.order.calculatorData
  if (isValid && !isUnchanged && !isCalculation(calculatorType, calculatorData)) {
    values.calculatorData = null
    errors.push({ column: titles.calculatorData, error: 'does not match the calculator type' })
  }
  return { values, errors, isValid }
}

/** The edits made in NocoDB since the last recorded version. */
const findEdits = (recorded: RecordedOrder, values: Record<string, unknown>): FieldChange[] =>
  ORDER_FIELDS.filter((field) => field !== 'orderNumber')
    .filter((field) => values[field] !== recorded[field])
    .map((field) => ({ field, from: recorded[field], to: values[field] }))

/** What the last recorded version remembers of its statuses. */
const getStatusRecord = ({ order, history }: OrderRecord): StatusRecord => ({
  ...inferStatusFields(order, history.toReversed()),
  ...order,
})

/**
 * Replaces an impossible status with the recorded one; returns the error. A status can be edited in
 * NocoDB only as it can be edited here, or to cancelled.
 */
function rejectImpossibleStatus(
  values: Record<string, unknown>,
  recorded: StatusRecord,
  column: string,
): CellError[] {
  const { status } = values as Pick<Order, 'status'>
  const possible = [recorded.status, 'cancelled', ...getTransitions(recorded)]
  if (possible.includes(status)) return []
  values.status = recorded.status
  return [{ column, error: `cannot change from ${recorded.status} to ${status}` }]
}

/** What an order remembers after the edits. Edited cells have precedence over the timestamps. */
function getEditedStatusFields(
  { status }: Pick<Order, 'status'>,
  recorded: StatusRecord,
  edits: FieldChange[],
  now: string,
): Partial<StatusRecord> {
  if (status === recorded.status) {
    return { cancelledFrom: recorded.cancelledFrom, paidAt: recorded.paidAt }
  }
  const { fulfilledAt, cancelledAt, ...fields } = getStatusFields(recorded, status, now)
  const isEdited = edits.some(({ field }) => field === 'fulfilledAt' || field === 'cancelledAt')
  return isEdited ? fields : { ...fields, fulfilledAt, cancelledAt }
}

/** Whether the recorded calculation belongs to another trip. */
const isTripEdited = (edits: FieldChange[]): boolean =>
  edits.some(({ field }) => field === 'calculatorType' || field === 'calculatorData')

/** The version in a row; 0 for a row that Clearwake has not written. */
function getRowVersion(row: Row, titles: ColumnTitles): number {
  const version = toNumber(row[titles.version])
  return Number.isSafeInteger(version) && version > 0 ? version : 0
}

/** Parses the order in a row. Edits made in NocoDB count as one more version. */
export function parseRow(row: Row, titles: ColumnTitles): ParseRowResult {
  const record = parseRecord(row[titles.record])
  const { values, errors, isValid } = decodeCells(row, titles, record)
  if (!isValid) return { ok: false, errors }
  const recorded = record && getStatusRecord(record)
  if (recorded) errors.push(...rejectImpossibleStatus(values, recorded, titles.status))

  const createdAt =
    record?.order.createdAt ?? parseTimestamp(row.CreatedAt) ?? String(values.placedAt)
  const editedAt = parseTimestamp(row.UpdatedAt) ?? createdAt
  const changes = record === null ? [] : findEdits(record.order, values)
  const isNewVersion = record === null || changes.length > 0
  const version = getRowVersion(row, titles) + (isNewVersion ? 1 : 0)
  const order = {
    ...values,
    id: String(row.Id),
    createdAt,
    updatedAt: isNewVersion ? editedAt : record.order.updatedAt,
    version,
    calculation: isTripEdited(changes) ? null : (record?.order.calculation ?? null),
    origin: record?.order.origin ?? null,
    checkout: record?.order.checkout ?? null,
    cancelledFrom: null,
    paidAt: null,
    retirement: record?.order.retirement ?? null,
  } as ParsedRow['order']
  const fields = recorded
    ? getEditedStatusFields(order, recorded, changes, editedAt)
    : inferStatusFields(order, [])
  if (recorded) changes.push(...getClearedTimestamps({ ...order, ...recorded }, fields))
  Object.assign(order, fields)

  const isEdited = changes.length > 0
  const edit = { at: editedAt, by: NOCODB_USER, version, changes }
  return {
    ok: true,
    parsed: {
      order,
      by: record?.by ?? NOCODB_USER,
      history: [...(record?.history ?? []), ...(isEdited ? [edit] : [])],
      request: record?.request ?? null,
      isEdited,
      errors,
    },
  }
}
