import type { Permission } from '../../accounts/permissions.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { applyCommand, type OrderCommand } from '../order-command.js'
import type { OrderStatus } from '../order-status.js'
import type { HistoryEntry, Order } from '../order.js'
import type { EditForm, EditGroup } from './edit-form.js'
import type { EntryView } from './history-view.js'
import type { ListContext } from './list-context.js'

/** An order and what every part of its page needs. */
export interface OrderData {
  order: Order
  /** Newest first */
  history: HistoryEntry[]
  context: ListContext
  format: Formatters
  timeZone: string
}

/** Why an action was rejected, and what to do. */
export interface Notice {
  title: string
  text: string
  /** The changes that caused a version conflict */
  entries?: EntryView[]
}

/** The state of an order's page, in addition to the order. Features add the state of their sections. */
export interface OrderPageState {
  /** The group being edited */
  form?: EditForm
  /** The order has changed since the form was opened */
  hasConflict?: boolean
  /** The group that gets the focus after an edit */
  editedGroup?: EditGroup
  notice?: Notice
}

export interface NextStep {
  title: string
  text: string
  action:
    | { type: 'status'; status: OrderStatus }
    /** Opens a dialog */
    | { type: 'dialog'; url: string; label: string; permission: Permission }
    /** Links to the section to review */
    | { type: 'review'; href: string }
}

/**
 * Where a section is: `provider` and `retirement` are the cards of these fields, the others are
 * cards of their own. Each has one section. In this order, sections say what to do next.
 */
export const SECTION_PLACES = ['payment', 'provider', 'retirement', 'emails'] as const
type SectionPlace = (typeof SECTION_PLACES)[number]

/** A section of an order's page, as its feature builds it. */
export interface BuiltSection {
  /** Passed to the template as `section` */
  view: unknown
  /** What to do next; `null` if nothing can be done now; absent if other sections decide */
  nextStep?: NextStep | null
  /** A status that the section changes in its own way, so that the page has no button for it */
  ownStatus?: OrderStatus
}

/** A section that a feature adds to the page of every order. */
interface OrderSection {
  place: SectionPlace
  template: string
  /** Returns `null` if there is nothing to show. */
  build: (data: OrderData, state: OrderPageState) => Promise<BuiltSection | null>
}

/** A change of an order's status that a user asks for. */
export interface StatusRequest {
  status: OrderStatus
  isUndo: boolean
}

/** Why the status of an order cannot be changed, as a clause; `null` if it can. */
type StatusCheck = (order: Order, requested: StatusRequest) => Promise<string | null>

/** Returns the note beside the status of an order in a list; `null` if there is none. */
export type DescribeInList = (order: Order) => string | null

/** Loads what is needed to describe the orders of a list. */
type LoadListNotes = (orders: readonly Order[]) => Promise<DescribeInList>

/** What features add to the pages of orders. */
export function createOrderExtensions() {
  const sections: OrderSection[] = []
  const consequences: LoadConsequences[] = []
  const statusChecks: StatusCheck[] = []
  const listNotes: LoadListNotes[] = []
  return {
    addSection: (section: OrderSection): void => void sections.push(section),
    /** Adds what a change of orders leads to, which pages say before; the last added comes first. */
    addConsequences: (load: LoadConsequences): void => void consequences.unshift(load),
    addStatusCheck: (check: StatusCheck): void => void statusChecks.push(check),
    addListNotes: (load: LoadListNotes): void => void listNotes.push(load),

    /** Builds the sections of an order's page, by place. */
    async buildSections(data: OrderData, state: OrderPageState) {
      const built: Partial<Record<SectionPlace, BuiltSection & { template: string }>> = {}
      for (const { place, template, build } of sections) {
        const section = await build(data, state)
        if (section !== null) built[place] = { ...section, template }
      }
      return built
    },

    /** Loads what is needed to describe the consequences of changes to these orders. */
    loadConsequences: async (orders: readonly Order[]) =>
      Promise.all(consequences.map((load) => load(orders))),

    findStatusProblem: async (order: Order, requested: StatusRequest): Promise<string | null> => {
      for (const check of statusChecks) {
        const problem = await check(order, requested)
        if (problem !== null) return problem
      }
      return null
    },

    loadListNotes: async (orders: readonly Order[]): Promise<DescribeInList[]> =>
      Promise.all(listNotes.map((load) => load(orders))),
  }
}

type OrderExtensions = ReturnType<typeof createOrderExtensions>
export type OrderSections = Awaited<ReturnType<OrderExtensions['buildSections']>>

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
