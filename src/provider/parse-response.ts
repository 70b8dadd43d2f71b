import type { Static } from '@sinclair/typebox'
import {
  DEFAULT_CURRENCY,
  type Amount,
  type Charge,
  type OffsetOrder,
  type PlacedOffsetOrder,
  type Portfolio,
} from './offset-order.js'
import type * as Schemas from './schemas.js'
import { truncateText } from './truncate-text.js'

const LONGEST_MESSAGE = 300
const BLANKS = /[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu

/** Text of somebody else, as one line. */
const line = (text: string): string => text.replace(BLANKS, ' ').trim()
const lineOrNull = (text: string | null | undefined): string | null => line(text ?? '') || null

const amountOf = (amountMinor: number, currency: string | null | undefined): Amount => ({
  amountMinor,
  currency: (currency ?? DEFAULT_CURRENCY).toUpperCase(),
})

const chargeOf = (amountMinor: number, currency: string | null | undefined): Charge => ({
  amountMinor,
  currency: currency?.toUpperCase() ?? null,
})

type WirePortfolio = Omit<Static<typeof Schemas.Portfolio>, 'projects'>
type WireProject = Static<typeof Schemas.Project>

function priceOf(portfolio: WirePortfolio): Amount | null {
  const { pricePerTonMinor, currency, cost_per_ton: dollars } = portfolio
  if (typeof pricePerTonMinor === 'number') return amountOf(pricePerTonMinor, currency)
  return typeof dollars === 'number' ? amountOf(Math.round(dollars * 100), 'USD') : null
}

/** A portfolio and its projects, which have been checked. */
export const parsePortfolio = (portfolio: WirePortfolio, projects: WireProject[]): Portfolio => ({
  id: portfolio.id,
  name: line(portfolio.name),
  description: lineOrNull(portfolio.description),
  pricePerTon: priceOf(portfolio),
  projects: projects.map((project) => ({
    id: String(project.id),
    name: line(project.name),
    description: lineOrNull(project.description),
    kind: lineOrNull(project.kind),
    country: lineOrNull(project.country),
    share: project.percentage ?? null,
  })),
})

/** An offset order that has been checked. */
export const parseOffsetOrder = (order: Static<typeof Schemas.KnownOffsetOrder>): OffsetOrder => ({
  id: String(order.id),
  tons: order.tons,
  amount:
    typeof order.amountCharged === 'number' ? chargeOf(order.amountCharged, order.currency) : null,
  portfolioId: order.portfolioId ?? null,
  note: lineOrNull(order.note),
  createdAt: lineOrNull(order.createdAt),
})

/** What placing an order was answered with, checked. */
export const parsePlacedOrder = ({
  id,
  tons,
  amountCharged,
  currency,
}: Static<typeof Schemas.PlacedOrderResponse>): PlacedOffsetOrder => ({
  id: id === null ? null : String(id),
  tons,
  amount: chargeOf(amountCharged, currency),
})

/** Fields beside the orders of a list that tell of nothing more to come. */
const KNOWN_FIELDS = ['offsetOrders', 'stats']
const EMPTY: readonly unknown[] = [null, undefined, false, '', 0]

/** Whether a list of orders may be all of them: nothing beside it hints at more. */
export function isCompleteList(body: { offsetOrders: unknown[] }, link: string): boolean {
  const { length } = body.offsetOrders
  const isHint = ([name, value]: [string, unknown]): boolean =>
    !(/total|count/i.test(name) && typeof value === 'number' && value <= length)
  return (
    link === '' &&
    !Object.entries(body)
      .filter(([name, value]) => !KNOWN_FIELDS.includes(name) && !EMPTY.includes(value))
      .some(isHint)
  )
}

/** What an error says for itself, on one line, maybe empty. */
export function getErrorMessage(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const fields = new Map<string, unknown>(Object.entries(body))
  const said = ['message', 'errorMessage', 'detail', 'error']
    .map((name) => fields.get(name))
    .find((value) => typeof value === 'string')
  return truncateText(line(said ?? ''), LONGEST_MESSAGE)
}
