import type { Static } from '@sinclair/typebox'
import type { Amount, OffsetOrder, PlacedOffsetOrder, Portfolio } from './offset-order.js'
import type * as Schemas from './order-source-schemas.js'

const LONGEST_MESSAGE = 300
/** Of amounts that come without one. */
const DEFAULT_CURRENCY = 'USD'
const BLANKS = /[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu

/** Text of somebody else, as one line. */
const line = (text: string): string => text.replace(BLANKS, ' ').trim()
const lineOrNull = (text: string | null | undefined): string | null => line(text ?? '') || null

const amountOf = (amountMinor: number, currency: string | null | undefined): Amount => ({
  amountMinor,
  currency: (currency ?? DEFAULT_CURRENCY).toUpperCase(),
})

type WirePortfolio = Static<typeof Schemas.PortfolioList>['portfolios'][number]

function priceOf(portfolio: WirePortfolio): Amount | null {
  const { pricePerTonMinor, currency, cost_per_ton: dollars } = portfolio
  if (typeof pricePerTonMinor === 'number') return amountOf(pricePerTonMinor, currency)
  return typeof dollars === 'number' ? amountOf(Math.round(dollars * 100), 'USD') : null
}

/** The portfolios of a list that has been checked. */
export const portfoliosOf = ({ portfolios }: Static<typeof Schemas.PortfolioList>): Portfolio[] =>
  portfolios.map((portfolio) => ({
    id: portfolio.id,
    name: line(portfolio.name),
    description: lineOrNull(portfolio.description),
    pricePerTon: priceOf(portfolio),
    projects: (portfolio.projects ?? []).map((project) => ({
      id: String(project.id),
      name: line(project.name),
      description: lineOrNull(project.description),
      kind: lineOrNull(project.kind),
      country: lineOrNull(project.country),
      share: project.percentage ?? null,
    })),
  }))

/** An offset order that has been checked. */
export const orderOf = (order: Static<typeof Schemas.KnownOffsetOrder>): OffsetOrder => ({
  id: String(order.id),
  tons: order.tons,
  amount:
    typeof order.amountCharged === 'number' ? amountOf(order.amountCharged, order.currency) : null,
  portfolioId: order.portfolioId ?? null,
  note: lineOrNull(order.note),
  createdAt: lineOrNull(order.createdAt),
})

/** What placing an order was answered with, checked. */
export const placedOf = ({
  id,
  tons,
  amountCharged,
  currency,
}: Static<typeof Schemas.PlacedAnswer>): PlacedOffsetOrder => ({
  id: id === null ? null : String(id),
  tons,
  amount: amountOf(amountCharged, currency),
})

/** What an error says for itself, on one line, maybe empty; a secret quoted in it is left out. */
export function messageOf(body: unknown, secret: string): string {
  if (typeof body !== 'object' || body === null) return ''
  const fields = new Map<string, unknown>(Object.entries(body))
  const said = ['message', 'errorMessage', 'detail', 'error']
    .map((name) => fields.get(name))
    .find((value) => typeof value === 'string')
  return line((said ?? '').replaceAll(secret, '…')).slice(0, LONGEST_MESSAGE)
}
