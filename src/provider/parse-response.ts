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

const MAX_MESSAGE_LENGTH = 300
/** White space, control characters, lone surrogates and bidirectional overrides. */
const BLANKS = /[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu

/** Converts text of the provider to one line. */
const toLine = (text: string): string => text.replace(BLANKS, ' ').trim()
const toLineOrNull = (text: string | null | undefined): string | null => toLine(text ?? '') || null

const toCharge = (amountMinor: number, currency: string | null | undefined): Charge => ({
  amountMinor,
  currency: currency?.toUpperCase() ?? null,
})

type ValidPortfolio = Omit<Static<typeof Schemas.Portfolio>, 'projects'>
type ValidProject = Static<typeof Schemas.Project>

function getPricePerTon(portfolio: ValidPortfolio): Amount | null {
  const { pricePerTonMinor, currency, cost_per_ton: dollars } = portfolio
  if (typeof pricePerTonMinor === 'number') {
    const code = currency ?? DEFAULT_CURRENCY
    return { amountMinor: pricePerTonMinor, currency: code.toUpperCase() }
  }
  if (typeof dollars !== 'number') return null
  return { amountMinor: Math.round(dollars * 100), currency: 'USD' }
}

export const parsePortfolio = (portfolio: ValidPortfolio, projects: ValidProject[]): Portfolio => ({
  id: portfolio.id,
  name: toLine(portfolio.name),
  description: toLineOrNull(portfolio.description),
  pricePerTon: getPricePerTon(portfolio),
  projects: projects.map(({ name }) => ({ name: toLine(name) })),
})

export const parseOffsetOrder = (order: Static<typeof Schemas.KnownOffsetOrder>): OffsetOrder => ({
  id: String(order.id),
  tons: order.tons,
  amount:
    typeof order.amountCharged === 'number' ? toCharge(order.amountCharged, order.currency) : null,
  portfolioId: order.portfolioId ?? null,
  note: toLineOrNull(order.note),
  createdAt: toLineOrNull(order.createdAt),
})

export const parsePlacedOrder = ({
  id,
  tons,
  amountCharged,
  currency,
}: Static<typeof Schemas.PlacedOrderResponse>): PlacedOffsetOrder => ({
  id: id === null ? null : String(id),
  tons,
  amount: toCharge(amountCharged, currency),
})

/** Fields of a list that say nothing about further orders. */
const LIST_FIELDS = ['offsetOrders', 'stats']
const EMPTY: readonly unknown[] = [null, undefined, false, '', 0]

/** Whether a list of orders is complete: no other field, and no Link header, suggests more pages. */
export function isCompleteList(body: { offsetOrders: unknown[] }, link: string): boolean {
  const { length } = body.offsetOrders
  const suggestsMore = ([name, value]: [string, unknown]): boolean =>
    !LIST_FIELDS.includes(name) &&
    !EMPTY.includes(value) &&
    !(/total|count/i.test(name) && typeof value === 'number' && value <= length)
  return link === '' && !Object.entries(body).some(suggestsMore)
}

/** Returns the message of an error response on one line, may be empty. */
export function getErrorMessage(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const fields = new Map<string, unknown>(Object.entries(body))
  const message = ['message', 'errorMessage', 'detail', 'error']
    .map((name) => fields.get(name))
    .find((value) => typeof value === 'string')
  return truncateText(toLine(message ?? ''), MAX_MESSAGE_LENGTH)
}
