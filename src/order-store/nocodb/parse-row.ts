import { getClearedTimestamps, getStatusTimestamps } from '../../orders/apply-changes.js'
import type { FieldChange, Order, HistoryEntry } from '../../orders/order.js'
import { matchesWrittenValue, isDataFor, parseTimestamp, CELL_DECODERS } from './cell-codec.js'
import { ORDER_FIELDS, type ColumnTitles, type OrderField } from './columns.js'
import { parseRecord, type OrderRecord, type RecordedOrder } from './history-record.js'

/** A row of the table, by the titles of its columns. */
export type Row = Readonly<Record<string, unknown>> & { readonly Id: number }

/** Who it was, where a row was edited in NocoDB: rows do not tell more. */
export const UNKNOWN_USER = 'NocoDB'

/** Cells that cannot be what they are for. */
export interface CellError {
  column: string
  fault: string
}

/** What a row says of an order. */
export interface ParsedRow {
  order: Omit<Order, 'orderNumber'> & { orderNumber: string | null }
  /** Who entered it */
  by: string
  /** Newest last, from the second version on */
  history: HistoryEntry[]
  request: string | null
  /** Whether its latest version came about in NocoDB, and is not yet written down as one */
  isEdited: boolean
  /** Cells of which nothing is shown */
  faults: CellError[]
}

export type ParseRowResult = { ok: true; found: ParsedRow } | { ok: false; faults: CellError[] }

/** Fields that no order can do without; the others are shown as empty where they are not readable. */
const NEEDED = [
  'status',
  'customerName',
  'customerEmail',
  'co2eKg',
  'amountMinor',
  'currency',
  'placedAt',
] as const satisfies OrderField[]

const isNeeded = (field: OrderField): boolean => NEEDED.some((needed) => needed === field)

const EMPTY: Partial<Record<OrderField, unknown>> = { status: 'pending', notes: '' }

/** The version in a row's column; 0 for a row that has none of ours. */
export function getRowVersion(row: Row, titles: ColumnTitles): number {
  const version = Number(row[titles.version] ?? 0)
  return Number.isSafeInteger(version) && version > 0 ? version : 0
}

/** What the cells say where nothing of them was written from here: the record's value for the rest. */
function readCells(row: Row, titles: ColumnTitles, record: OrderRecord | null) {
  const values: Record<string, unknown> = {}
  const faults: CellError[] = []
  const unreadable = new Set<OrderField>()
  const placed = parseTimestamp(row.CreatedAt)
  for (const field of ORDER_FIELDS) {
    const cell = row[titles[field]]
    const recorded: unknown =
      field === 'orderNumber' ? undefined : record?.order[field as keyof RecordedOrder]
    if (recorded !== undefined && matchesWrittenValue(field, cell, recorded)) {
      values[field] = recorded
      continue
    }
    const reading = CELL_DECODERS[field](cell)
    const value = reading.ok ? reading.value : null
    values[field] = value ?? EMPTY[field] ?? (field === 'placedAt' && reading.ok ? placed : null)
    if (!reading.ok) {
      faults.push({ column: titles[field], fault: reading.fault })
      unreadable.add(field)
    }
    if (isNeeded(field) && values[field] === null && reading.ok) {
      faults.push({ column: titles[field], fault: 'is empty' })
    }
  }
  const lacks = [...NEEDED].some((field) => values[field] === null || unreadable.has(field))
  return { values, faults, lacks }
}

/** Data that are not those of their calculator are of no use to anybody. */
function withoutStrayData(
  values: Record<string, unknown>,
  titles: ColumnTitles,
  faults: CellError[],
): void {
  const type = values.calculatorType as Order['calculatorType']
  if (values.calculatorData === null || isDataFor(type, values.calculatorData)) return
  values.calculatorData = null
  faults.push({ column: titles.calculatorData, fault: 'is not data of its calculator' })
}

/** The fields that were edited in NocoDB since they were last written from here. */
function editsSince(recorded: RecordedOrder, values: Record<string, unknown>): FieldChange[] {
  return ORDER_FIELDS.filter((field) => field !== 'orderNumber')
    .filter((field) => values[field] !== recorded[field as keyof RecordedOrder])
    .map((field) => ({
      field,
      from: recorded[field as keyof RecordedOrder],
      to: values[field],
    }))
}

/**
 * The order that a row stands for, with what was edited in NocoDB as one version more, or why it
 * stands for none. Pure.
 */
export function parseRow(row: Row, titles: ColumnTitles): ParseRowResult {
  const record = parseRecord(row[titles.record])
  const { values, faults, lacks } = readCells(row, titles, record)
  if (lacks) return { ok: false, faults }
  const isOurData = record !== null && values.calculatorData === record.order.calculatorData
  if (!isOurData) withoutStrayData(values, titles, faults)

  const createdAt =
    record?.order.createdAt ?? parseTimestamp(row.CreatedAt) ?? String(values.placedAt)
  const touchedAt = parseTimestamp(row.UpdatedAt) ?? createdAt
  const changes = record === null ? [] : editsSince(record.order, values)
  const wasEdited = record === null || changes.length > 0
  const version = getRowVersion(row, titles) + (wasEdited ? 1 : 0)
  const order = {
    ...values,
    id: String(row.Id),
    createdAt,
    updatedAt: wasEdited ? touchedAt : record.order.updatedAt,
    version,
  } as ParsedRow['order']
  if (wasEdited) {
    const moments = momentsOf(order, changes, touchedAt)
    changes.push(...getClearedTimestamps(order, moments))
    Object.assign(order, moments)
  }

  const history = record?.history ?? []
  const edit = { at: touchedAt, by: UNKNOWN_USER, version, changes }
  return {
    ok: true,
    found: {
      order,
      by: record?.by ?? UNKNOWN_USER,
      history: changes.length > 0 ? [...history, edit] : history,
      request: record?.request ?? null,
      isEdited: changes.length > 0,
      faults,
    },
  }
}

/** When a status set in NocoDB was reached, unless a person has said so there. */
function momentsOf(
  order: ParsedRow['order'],
  changes: FieldChange[],
  now: string,
): Partial<ReturnType<typeof getStatusTimestamps>> {
  const moved = changes.some(({ field }) => field === 'status')
  const told = changes.some(({ field }) => field === 'fulfilledAt' || field === 'cancelledAt')
  return moved && !told ? getStatusTimestamps(order, order.status, now) : {}
}
