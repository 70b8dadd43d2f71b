import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { truncateText } from '../core/formatting/text.js'
import { DEFAULT_CURRENCY, type Amount, type Charge } from '../orders/amount.js'
import type {
  OffsetOrder,
  OffsetOrders,
  PlacedOffsetOrder,
  Portfolio,
  ProviderCertificate,
} from './offset-order.js'
import * as schemas from './provider-schemas.js'

/** Validates and converts a response body; `null` if it is invalid. `link` is the Link header. */
export type Parse<T> = (body: unknown, link: string) => T | null

function createGuard<S extends TSchema>(schema: S) {
  const compiled = TypeCompiler.Compile(schema)
  return (value: unknown): value is Static<S> => compiled.Check(value)
}

const isArray = createGuard(Type.Array(Type.Unknown(), { maxItems: 1_000 }))
const isPortfolioList = createGuard(Type.Object({ portfolios: Type.Array(Type.Unknown()) }))
const ValidPortfolio = Type.Omit(schemas.Portfolio, ['projects'])
const isPortfolio = createGuard(ValidPortfolio)
const isProject = createGuard(schemas.Project)
const isOffsetOrderList = createGuard(schemas.OffsetOrderList)
const isOffsetOrder = createGuard(schemas.KnownOffsetOrder)
const isPurchaseList = createGuard(schemas.PurchaseList)
const isPlacedOrder = createGuard(schemas.PlacedOrderResponse)

const MAX_MESSAGE_LENGTH = 300
const MAX_URL_LENGTH = 500
const MAX_SERIAL_NUMBERS = 20
const MAX_SERIAL_LENGTH = 100
/** Whitespace, control characters, lone surrogates and bidirectional overrides. */
const BLANKS = /[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu

/** Converts text from the provider to one line. */
const toLine = (text: string): string => text.replace(BLANKS, ' ').trim()
const toLineOrNull = (text: string | null | undefined): string | null => toLine(text ?? '') || null

const toCharge = (amountMinor: number, currency: string | null | undefined): Charge => ({
  amountMinor,
  currency: currency?.toUpperCase() ?? null,
})

function getPricePerTon(portfolio: Static<typeof ValidPortfolio>): Amount | null {
  const { pricePerTonMinor, currency, cost_per_ton: dollars } = portfolio
  if (typeof pricePerTonMinor === 'number') {
    const code = currency ?? DEFAULT_CURRENCY
    return { amountMinor: pricePerTonMinor, currency: code.toUpperCase() }
  }
  if (typeof dollars !== 'number') return null
  return { amountMinor: Math.round(dollars * 100), currency: 'USD' }
}

/** An https page without credentials; empty for anything else. */
function toHttpsUrl(value: unknown): { url?: string } {
  const href = toPageUrl(value)
  const { protocol, username, password } = new URL(href ?? 'http:none')
  return href !== null && protocol === 'https:' && !username && !password ? { url: href } : {}
}

function toPortfolio(portfolio: Static<typeof ValidPortfolio>): Portfolio {
  const projects: unknown = 'projects' in portfolio ? portfolio.projects : []
  return {
    id: portfolio.id,
    name: toLine(portfolio.name),
    description: toLineOrNull(portfolio.description),
    pricePerTon: getPricePerTon(portfolio),
    projects: (isArray(projects) ? projects.filter(isProject) : []).map(
      ({ name, country, url }) => ({
        name: toLine(name),
        country: toLineOrNull(country),
        ...toHttpsUrl(url),
      }),
    ),
  }
}

/** Skips invalid portfolios and projects; returns `null` if every portfolio is invalid. */
export const parsePortfolios: Parse<Portfolio[]> = (body) => {
  if (!isPortfolioList(body) || !isArray(body.portfolios)) return null
  const portfolios = body.portfolios.filter(isPortfolio).map(toPortfolio)
  return portfolios.length === 0 && body.portfolios.length > 0 ? null : portfolios
}

/** Validates a web page URL from the provider; `null` if it is invalid. */
function toPageUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH || !URL.canParse(value))
    return null
  const { protocol, href } = new URL(value)
  return /^https?:$/.test(protocol) ? href : null
}

/** Omits invalid fields, because they must not prevent an order from being read. */
function toCertificate({
  certificateUrl,
  registryUrl,
  serialNumbers,
}: Record<string, unknown>): ProviderCertificate {
  return {
    certificateUrl: toPageUrl(certificateUrl),
    registryUrl: toPageUrl(registryUrl),
    serialNumbers: (isArray(serialNumbers) ? serialNumbers : [])
      .flatMap((serial) => (typeof serial === 'string' ? (toLineOrNull(serial) ?? []) : []))
      .slice(0, MAX_SERIAL_NUMBERS)
      .map((serial) => truncateText(serial, MAX_SERIAL_LENGTH)),
  }
}

const toOffsetOrder = (order: Static<typeof schemas.KnownOffsetOrder>): OffsetOrder => ({
  id: String(order.id),
  tons: order.tons,
  amount:
    typeof order.amountCharged === 'number' ? toCharge(order.amountCharged, order.currency) : null,
  portfolioId: order.portfolioId ?? null,
  note: toLineOrNull(order.note),
  createdAt: toLineOrNull(order.createdAt),
  certificate: toCertificate(order),
})

export const parseOrder: Parse<OffsetOrder> = (body) =>
  isOffsetOrder(body) ? toOffsetOrder(body) : null

/** Fields of a list that do not indicate further orders. */
const LIST_FIELDS = ['offsetOrders', 'stats']
const EMPTY: readonly unknown[] = [null, undefined, false, '', 0]

/** Whether a list is complete: neither another field nor a Link header suggests more pages. */
function isComplete(body: Static<typeof schemas.OffsetOrderList>, link: string): boolean {
  const { length } = body.offsetOrders
  const suggestsMore = ([name, value]: [string, unknown]): boolean =>
    !LIST_FIELDS.includes(name) &&
    !EMPTY.includes(value) &&
    !(/total|count/i.test(name) && typeof value === 'number' && value <= length)
  return link === '' && !Object.entries(body).some(suggestsMore)
}

export const parseOrders: Parse<OffsetOrders> = (body, link) =>
  isOffsetOrderList(body)
    ? { orders: body.offsetOrders.map(toOffsetOrder), isComplete: isComplete(body, link) }
    : null

/** The URLs of certificates in a list of purchases, by order ID. */
export const parseCertificateUrls: Parse<ReadonlyMap<string, string>> = (body) =>
  isPurchaseList(body)
    ? new Map(
        body.purchases.flatMap(({ stripeChargeId, certificateUrl }) => {
          const url = toPageUrl(certificateUrl)
          return url === null ? [] : [[String(stripeChargeId), url]]
        }),
      )
    : null

export const parseQuote: Parse<PlacedOffsetOrder> = (body) => {
  if (!isPlacedOrder(body)) return null
  const { id, tons, amountCharged, currency } = body
  return { id: id === null ? null : String(id), tons, amount: toCharge(amountCharged, currency) }
}

/** A placed order has an ID; a quote has none. */
export const parsePlacedOrder: Parse<PlacedOffsetOrder> = (body, link) => {
  const order = parseQuote(body, link)
  return order?.id == null ? null : order
}

/** Returns the message of an error response on one line; it may be empty. */
export function getErrorMessage(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const fields = new Map<string, unknown>(Object.entries(body))
  const message = ['message', 'errorMessage', 'detail', 'error']
    .map((name) => fields.get(name))
    .find((value) => typeof value === 'string')
  return truncateText(toLine(message ?? ''), MAX_MESSAGE_LENGTH)
}
