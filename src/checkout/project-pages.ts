import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { formatMoney, formatRoundedMass } from '../core/formatting/number-formatter.js'
import { truncateText } from '../core/formatting/text.js'
import { getDecimalSign, getRequestNumbers } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import { WHOLE_TRIP } from '../orders/share.js'
import type { Project } from '../provider/offset-order.js'
import { getProjectPath } from '../provider/paths.js'
import { createPriceTerms } from './checkout-config.js'
import { readTrip, toFormQuery } from './ordered-trip.js'
import {
  buildCardPrice,
  buildPortfolioView,
  findLowestPrice,
  getDrawing,
  getImagePath,
} from './portfolio-view.js'
import { requireOrdering } from './quotes.js'

interface ProjectParams {
  portfolioId: string
  projectId: string
}

const MAX_PREVIEW_LENGTH = 160
const IMAGE_SECONDS = 24 * 60 * 60

const toHost = (url: string | undefined): string | undefined => url && new URL(url).host

const METHOD_NAMES = {
  avoidance: 'Prevents emissions (avoidance)',
  removal: 'Takes CO₂ out of the air (removal)',
}

interface Fact {
  name: string
  value: string
  url?: string | undefined
}

/** What the provider says about a project, besides its type and place; nothing else is shown. */
function listFacts(project: Project): Fact[] {
  const { method, standard, vintage, registry, registryUrl, url } = project
  const facts: { name: string; value?: string | null | undefined; url?: string | undefined }[] = [
    { name: 'What it does', value: method && METHOD_NAMES[method] },
    { name: 'Certified under', value: standard },
    { name: 'Year of the credits', value: vintage },
    { name: 'Listed in', value: registry ?? toHost(registryUrl), url: registryUrl },
    { name: 'Website', value: toHost(url), url },
  ]
  return facts.filter((fact): fact is Fact => fact.value != null)
}

interface TripQuery {
  /** The result or the order form that the guest started from */
  trip?: string
  /** Set if the guest has chosen the whole trip */
  share?: 'whole'
}

type PageRequest = FastifyRequest<{ Querystring: TripQuery }>

/**
 * The result or the order form that a guest came from, to go back to: as another of these pages
 * links it, or as the browser says. `null` if it is unknown.
 */
function getTripUrl({ headers, query }: PageRequest, origin: string): string | null {
  const given = query.trip ?? headers.referer
  const url = typeof given === 'string' ? URL.parse(given, origin) : null
  return url?.origin === origin && /^\/(calculator\/\w+|offset)$/.test(url.pathname)
    ? url.pathname + url.search
    : null
}

/** The query of links between these pages, so that the trip is not lost. */
const keepTrip = (tripUrl: string | null, { share }: TripQuery): string =>
  tripUrl === null
    ? ''
    : `?${new URLSearchParams({ trip: tripUrl, ...(share === 'whole' && { share }) }).toString()}`

/** The pages of the projects whose credits are sold, and their pictures. */
const pages: FastifyPluginAsync = async (app) => {
  const { projectImages } = app
  const getTerms = createPriceTerms(app.config)

  /**
   * The order form for the trip of a result, with a portfolio, and its price. Like the result, it
   * starts with one guest's part, unless the guest has chosen the whole trip. `null` if the guest
   * does not come from a result.
   */
  async function buildOrderLink(request: PageRequest, tripUrl: string | null, portfolioId: number) {
    const [, type, search] = /^\/calculator\/(\w+)\?(.+)/.exec(tripUrl ?? '') ?? []
    const query = { type, ...Object.fromEntries(new URLSearchParams(search)) }
    const decimalSign = getDecimalSign(request.headers['accept-language'])
    const result = type === undefined ? null : readTrip(app.readPrefill, query, decimalSign)
    if (result?.outcome !== 'valid') return null
    const { guests = 1 } = result.trip.calculation.calculatorData
    const isPart = guests > 1 && request.query.share !== 'whole'
    const share = isPart ? { sharePercent: null, forGuests: 1 } : WHOLE_TRIP
    const prices = await requireOrdering(app.quotes).list(result.trip, share)
    const price = prices.find(({ portfolio }) => portfolio?.id === portfolioId)?.result
    return {
      url: `/offset?${toFormQuery(result.fields, { portfolioId, ...share })}`,
      price: price ? buildCardPrice(price).price : null,
      co2eKg: price?.outcome === 'priced' ? price.price.co2eKg : null,
      isPart,
    }
  }

  async function findProject({ portfolioId, projectId }: ProjectParams) {
    const offers = await requireOrdering(app.quotes).listOffers()
    const offer = offers.find(({ portfolio }) => String(portfolio?.id) === portfolioId)
    const project = offer?.portfolio?.projects.find(({ id }) => id === projectId)
    if (offer?.portfolio == null || project === undefined) {
      throw new Problem(404, 'This project is not offered here.')
    }
    return { project, portfolio: offer.portfolio, paidPerTonne: offer.paidPerTonne }
  }

  app.get<{ Params: ProjectParams; Querystring: TripQuery }>(
    '/projects/:portfolioId/:projectId',
    async (request, reply) => {
      const { project, portfolio, paidPerTonne } = await findProject(request.params)
      const numbers = getRequestNumbers(request)
      const { name, description, share = 1 } = project
      const toShare = (share?: number) => (share === undefined ? null : numbers.percent(share))
      const tripUrl = getTripUrl(request, app.publicBaseUrl())
      const order = await buildOrderLink(request, tripUrl, portfolio.id)
      return reply.renderView(
        { page: 'checkout/project' },
        {
          preview: {
            title: name,
            description: truncateText(description ?? portfolio.name, MAX_PREVIEW_LENGTH),
          },
          project: {
            ...project,
            share: toShare(project.share),
            drawings: [getDrawing(project)],
            imagePath: getImagePath(projectImages, portfolio.id, project),
          },
          tripUrl,
          tripQuery: keepTrip(tripUrl, request.query),
          order,
          /** What the order buys, and what comes from this project if that is not all of it */
          masses:
            order?.co2eKg == null || share === 1
              ? null
              : {
                  total: formatRoundedMass(order.co2eKg, numbers),
                  project: formatRoundedMass(order.co2eKg * share, numbers),
                },
          facts: listFacts(project),
          portfolio,
          perTonne: formatMoney(paidPerTonne.amountMinor, paidPerTonne.currency),
          others: portfolio.projects
            .filter((other) => other.name !== '' && other.id !== project.id)
            .map((other) => ({
              name: other.name,
              share: toShare(other.share),
              path: getProjectPath(portfolio.id, other),
            })),
        },
      )
    },
  )

  app.get<{ Params: ProjectParams }>(
    '/projects/:portfolioId/:projectId/image',
    { schema: { hide: true } },
    async (request, reply) => {
      const { imageUrl } = (await findProject(request.params)).project
      const image = imageUrl === undefined ? null : await projectImages?.get(imageUrl)
      if (image == null) throw new Problem(404, 'There is no picture of this project.')
      return reply
        .type(image.type)
        .header('cache-control', `public, max-age=${IMAGE_SECONDS}`)
        .send(image.bytes)
    },
  )

  // What guests buy, from whom, and what they get.
  app.get<{ Querystring: TripQuery }>('/carbon-credits', async (request, reply) => {
    const quotes = requireOrdering(app.quotes)
    const { REFUND_POLICY, TERMS_URL, ORDERSOURCE_NAME, SERVICE_FEE_PERCENT, CURRENCY } = app.config
    const offers = (await quotes.listOffersQuickly()) ?? []
    const currencies = new Set(offers.map(({ paidPerTonne }) => paidPerTonne.currency))
    const smallestPrices = [...(currencies.size > 0 ? currencies : [CURRENCY])].flatMap(
      (currency) => {
        const { minimumMinor } = getTerms(currency)
        return minimumMinor > 0 ? formatMoney(minimumMinor, currency) : []
      },
    )
    const lowestId = findLowestPrice(offers)
    const tripUrl = getTripUrl(request, app.publicBaseUrl())
    return reply.renderView(
      { page: 'checkout/carbon-credits' },
      {
        providerName: ORDERSOURCE_NAME,
        hasProvider: app.orderSource !== null,
        feePercent: SERVICE_FEE_PERCENT,
        smallestPrice: smallestPrices.join(' or '),
        refundPolicy: REFUND_POLICY,
        termsUrl: TERMS_URL,
        tripUrl,
        tripQuery: keepTrip(tripUrl, request.query),
        offers: offers.flatMap(({ portfolio, paidPerTonne }) =>
          portfolio === null || portfolio.name === ''
            ? []
            : {
                ...buildPortfolioView(portfolio, projectImages, lowestId),
                perTonne: formatMoney(paidPerTonne.amountMinor, paidPerTonne.currency),
              },
        ),
      },
    )
  })
}

export default pages
