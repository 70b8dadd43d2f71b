import type { Formatters } from '../../core/formatting/formatters.js'
import { applyCommand, type OrderCommand } from '../order-command.js'
import type { Order } from '../order.js'

/** An order before and after a change. */
export interface OrderChange {
  before: Order
  after: Order
}

export interface ConsequenceOptions {
  /** About one order: its guest and its certificate need no number */
  isSingle: boolean
  /** Whether the change follows a refund through Stripe; it cannot be undone */
  isRefund: boolean
  format: Formatters
}

/** What changes lead to, besides the new values of the orders. */
export interface Consequence {
  /** Completes “This …”, such as `withdraws the certificate` */
  clause: string
  /** A sentence that follows */
  note?: string
}

/** Describes the consequences of changes, in the order in which they are said. */
export type DescribeConsequences = (
  changes: readonly OrderChange[],
  options: ConsequenceOptions,
) => Consequence[]

/** Loads what is needed to describe the consequences of changes to some orders. */
export type LoadConsequences = (orders: readonly Order[]) => Promise<DescribeConsequences>

/** Simulates a command on orders; returns those that it changes. Cannot simulate an undo. */
export const simulateChanges = (
  orders: readonly Order[],
  command: Exclude<OrderCommand, { type: 'undo' }>,
): OrderChange[] =>
  orders.flatMap((before) => {
    const result = applyCommand(before, [], command, new Date().toISOString())
    return result.outcome === 'changed' ? [{ before, after: result.order }] : []
  })

/** Counts a noun: `the certificate` of a single order, `1 certificate`, `3 certificates`. */
export const countNoun = (
  number: number,
  noun: string,
  { isSingle, format }: ConsequenceOptions,
): string =>
  isSingle ? `the ${noun}` : number === 1 ? `1 ${noun}` : `${format.count(number)} ${noun}s`

const list = new Intl.ListFormat('en')

/** Says what changes lead to; `null` if there is nothing to say. */
export function describeConsequences(
  describers: readonly DescribeConsequences[],
  changes: readonly OrderChange[],
  options: ConsequenceOptions,
): string | null {
  const consequences = describers.flatMap((describe) => describe(changes, options))
  if (consequences.length === 0) return null
  const clauses = list.format(consequences.map(({ clause }) => clause))
  return [`This ${clauses}.`, ...consequences.flatMap(({ note = [] }) => note)].join(' ')
}
