import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { truncateText } from '../../core/formatting/text.js'
import { getRequestFormatters } from '../../core/http/locale.js'
import {
  describeTerms,
  findAcceptedTerms,
  findTermsDifferences,
} from '../../orders/accepted-terms.js'
import { calculatePrice, type Amount } from '../../orders/amount.js'
import { findLatestAttempt, getLostProviderId, isProportionate } from '../../orders/attempt.js'
import { joinWithAnd } from '../../orders/labels.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import { buildContextUrl, parseListContext } from '../../orders/pages/list-context.js'
import type { OrderRequest } from '../../orders/pages/order-presenter.js'
import type { OrderStore } from '../../orders/store/order-store.js'
import type { Portfolio } from '../offset-order.js'
import type { Fulfilment } from './fulfil-orders.js'
import { describeProviderFailure, describeQuoteError, NOTHING_ORDERED } from './provider-notices.js'
import { getTons } from './provider-requests.js'

const MAX_NAME_LENGTH = 120
const MAX_DESCRIPTION_LENGTH = 300

function buildPortfolioView(
  { id, name, description, pricePerTon, projects }: Portfolio,
  price: Amount | null,
  format: Formatters,
) {
  const formatAmount = ({ amountMinor, currency }: Amount) => format.money(amountMinor, currency)
  const summary = description ?? projects.map((project) => project.name).join(', ')
  return {
    id,
    name: truncateText(name, MAX_NAME_LENGTH),
    description: truncateText(summary, MAX_DESCRIPTION_LENGTH),
    price: price && formatAmount(price),
    perTon: pricePerTon && formatAmount(pricePerTon),
  }
}

/**
 * Describes how an order and the chosen portfolio differ from what the guest accepted; `null` if
 * they do not, or if no guest placed the order.
 */
function describeTermsDifferences(
  order: Order,
  history: readonly HistoryEntry[],
  portfolio: Pick<Portfolio, 'id' | 'name'>,
): string | null {
  if (order.checkout === null) return null
  const accepted = findAcceptedTerms(order, history)
  if (accepted === null) return 'What the guest accepted is not recorded. Check the order first.'
  const { portfolioName } = order.checkout
  const differences: string[] = findTermsDifferences(order, accepted)
  const isSame = accepted.portfolioId === portfolio.id && portfolioName === portfolio.name
  if (accepted.portfolioId !== null && !isSame) {
    differences.push('portfolio')
  }
  if (differences.length === 0) return null
  const from = portfolioName === null ? '' : `, from ${portfolioName}`
  return `This differs from what the guest accepted: ${joinWithAnd(differences)}. The guest accepted ${describeTerms(accepted)}${from}.`
}

/** Builds the steps of placing an order: choose a portfolio, confirm the price, allow a retry. */
export function createFulfilmentSteps(store: OrderStore, fulfilment: Fulfilment) {
  const getAttempt = async (order: Order) =>
    findLatestAttempt((await store.getHistory(order.id)) ?? [])

  /** The data of the order that every step shows. */
  async function buildSubject(request: OrderRequest, order: Order) {
    const format = getRequestFormatters(request)
    const path = `/admin/orders/${order.id}`
    const attempt = await getAttempt(order)
    const buildUrl = (subpath: string) =>
      buildContextUrl(parseListContext(request.query), subpath, { group: 'provider' })
    return {
      orderNumber: order.orderNumber,
      customerName: order.customerName,
      vesselName: order.vesselName,
      version: order.version,
      tons: format.exact(getTons(order)),
      amount: format.money(order.amountMinor, order.currency),
      isPaid: order.status !== 'pending',
      reference: attempt?.reference ?? null,
      lostProviderId: getLostProviderId(order, attempt),
      url: buildUrl(path),
      action: buildUrl(`${path}/fulfilment`),
      actionPath: `${path}/fulfilment`,
      resetUrl: buildUrl(`${path}/fulfilment/reset`),
      /** The list context as hidden fields, for forms that use GET */
      contextFields: [...new URLSearchParams(buildUrl(''))],
    }
  }

  /** Views and data of a step: a dialog for htmx, otherwise a page. */
  const buildStep = async (
    request: OrderRequest,
    order: Order,
    step: string,
    data: object = {},
  ) => ({
    views: { page: 'provider/fulfilment', fragment: 'provider/_fulfilment-parts' },
    data: {
      subject: await buildSubject(request, order),
      step,
      ...data,
    },
  })

  return {
    getAttempt,
    buildSubject,

    async buildChoice(request: OrderRequest, order: Order) {
      const portfolios = await fulfilment.listPortfolios()
      if (!('value' in portfolios)) {
        const failure = describeProviderFailure(portfolios, NOTHING_ORDERED)
        return buildStep(request, order, 'failed', { failure })
      }
      const format = getRequestFormatters(request)
      const lastId = (await getAttempt(order))?.portfolioId
      const selected = portfolios.value.find(({ id }) => id === lastId) ?? portfolios.value[0]
      const tons = getTons(order)
      return buildStep(request, order, 'choose', {
        portfolios: portfolios.value.map((portfolio) => {
          const price = portfolio.pricePerTon && calculatePrice(tons, portfolio.pricePerTon)
          return {
            ...buildPortfolioView(portfolio, price, format),
            isSelected: portfolio === selected,
          }
        }),
      })
    },

    async buildConfirmation(request: OrderRequest, order: Order, portfolioId: number) {
      const quote = await fulfilment.getQuote(order, portfolioId)
      const format = getRequestFormatters(request)
      if (quote.outcome !== 'quoted') {
        if (quote.outcome === 'unexpected_order') {
          request.log.error(
            { order: order.id, orderSourceId: quote.id },
            'provider responded to a dry run with an order ID',
          )
        }
        const failure = describeQuoteError(quote, format)
        return buildStep(request, order, 'failed', { failure })
      }
      const history = (await store.getHistory(order.id)) ?? []
      const { portfolio, price } = quote
      const { pricePerTon } = portfolio
      const tons = getTons(order)
      const expected = pricePerTon && calculatePrice(tons, pricePerTon)
      const isUnexpected = pricePerTon !== null && !isProportionate({ ...price, tons }, pricePerTon)
      return buildStep(request, order, 'confirm', {
        portfolio: buildPortfolioView(portfolio, price, format),
        price: { ...price, text: format.money(price.amountMinor, price.currency) },
        expectedPrice:
          expected && isUnexpected ? format.money(expected.amountMinor, expected.currency) : null,
        problem: await fulfilment.findPlacementProblem(order, history),
        termsWarning: describeTermsDifferences(order, history, portfolio),
        isLoss: price.currency === order.currency && price.amountMinor > order.amountMinor,
      })
    },

    /** @param isListed whether the provider's list is conclusive */
    buildReset: (request: OrderRequest, order: Order, isListed: boolean) =>
      buildStep(request, order, 'reset', { isListed }),
  }
}

export type FulfilmentSteps = ReturnType<typeof createFulfilmentSteps>
