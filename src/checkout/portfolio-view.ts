import type { OfferedPortfolio } from '../calculator/result-page.js'
import { formatMoney, getNumberFormatter } from '../core/formatting/number-formatter.js'
import { truncateText } from '../core/formatting/text.js'
import type { Amount } from '../orders/amount.js'
import type { Project } from '../provider/offset-order.js'
import { getProjectPath } from '../provider/paths.js'
import type { ProjectImages } from '../provider/project-images.js'
import type { Offer, PriceResult } from './prices.js'
import type { OfferPrice, TonneOffer } from './quotes.js'

type OfferPortfolio = NonNullable<Offer['portfolio']>

const MAX_PROJECTS = 8
const MAX_NAME_LENGTH = 120
const MAX_DESCRIPTION_LENGTH = 300
/** Different standards or places on a card */
const MAX_LISTED = 2
/** A portfolio of several kinds of projects is drawn as two halves. */
const MAX_DRAWINGS = 2

/** The same as for money, regardless of the reader's locale */
const numbers = getNumberFormatter('en-GB')

/** Drawings of `_drawing.eta`, by words in the type or the name of a project. */
const DRAWINGS: readonly [drawing: string, words: RegExp][] = [
  ['air-capture', /direct air|\bdac|air capture|mineral|basalt|weathering|concrete/i],
  ['biochar', /\bbio-?(char|mass|oil)|charcoal/i],
  ['stove', /cook|stove|kitchen/i],
  ['ocean', /sea-?(grass|weed)|kelp|ocean|marine|reef|alkalin/i],
  ['forest', /mangrove|forest|tree|wood|peat|wetland|soil/i],
  ['wind', /wind|solar|hydro|renewable/i],
]

/** The drawing for a project without a picture. */
export const getDrawing = ({ kind, name }: Pick<Project, 'kind' | 'name'>): string => {
  const find = (text = '') => DRAWINGS.find(([, words]) => words.test(text))?.[0]
  return find(kind) ?? find(name) ?? 'other'
}

/** A project's picture on this service; `null` if it has none, or it cannot be shown yet. */
export const getImagePath = (
  images: ProjectImages | null,
  portfolioId: number,
  project: Project,
): string | null =>
  project.imageUrl !== undefined && images?.has(project.imageUrl)
    ? `${getProjectPath(portfolioId, project)}/image`
    : null

/** Whether projects avoid or remove emissions; `null` unless all of them say so. */
function describeMethods(projects: readonly Project[]): string | null {
  const methods = new Set(projects.map(({ method }) => method))
  if (methods.has(undefined) || methods.size === 0) return null
  if (methods.size > 1) return 'Avoidance and removal'
  return methods.has('removal') ? 'Removal' : 'Avoidance'
}

/** The different values, such as `Kenya, Mexico` or `Kenya and 2 more`; `null` if there are none. */
function listDifferent(values: (string | null | undefined)[]): string | null {
  const different = [...new Set(values.filter((value) => value != null))]
  return different.length > MAX_LISTED
    ? `${different[0]} and ${different.length - 1} more`
    : different.join(', ') || null
}

const getAmount = (offer: OfferPrice | TonneOffer): Amount | null => {
  if ('paidPerTonne' in offer) return offer.paidPerTonne
  return offer.result.outcome === 'priced' ? offer.result.price : null
}

/**
 * The ID of the portfolio that costs the least for the same mass; `null` if there is not clearly
 * one, such as with a minimum that several portfolios share, or with several currencies.
 */
export function findLowestPrice(offers: readonly (OfferPrice | TonneOffer)[]): number | null {
  const priced = offers.flatMap((offer) => {
    const amount = getAmount(offer)
    return amount === null ? [] : { ...amount, id: offer.portfolio?.id ?? null }
  })
  const [lowest, next] = priced.toSorted((a, b) => a.amountMinor - b.amountMinor)
  if (lowest === undefined || next === undefined) return null
  const isComparable = priced.every(({ currency }) => currency === lowest.currency)
  return isComparable && lowest.amountMinor < next.amountMinor ? lowest.id : null
}

/**
 * What a card shows of a portfolio besides its price. Text is the provider's: untrusted.
 *
 * @param lowestId the portfolio with the lowest price, if there is one
 */
export function buildPortfolioView(
  { id, name, description, projects }: OfferPortfolio,
  images: ProjectImages | null,
  lowestId: number | null,
): Omit<OfferedPortfolio, 'price' | 'perTonne'> {
  const named = projects.filter((project) => project.name !== '')
  const pictured = named.find((project) => getImagePath(images, id, project) !== null)
  return {
    id,
    name: truncateText(name, MAX_NAME_LENGTH),
    description: description && truncateText(description, MAX_DESCRIPTION_LENGTH),
    drawings: [...new Set((named.length > 0 ? named : [{ name }]).map(getDrawing))].slice(
      0,
      MAX_DRAWINGS,
    ),
    imagePath: pictured === undefined ? null : getImagePath(images, id, pictured),
    traits: [
      id === lowestId ? 'Lowest price' : null,
      describeMethods(named),
      listDifferent(named.map(({ standard }) => standard)),
      listDifferent(named.map(({ country }) => country && truncateText(country, 60))),
    ].filter((trait) => trait !== null),
    projects: named.slice(0, MAX_PROJECTS).map((project) => ({
      name: truncateText(project.name, MAX_NAME_LENGTH),
      path: getProjectPath(id, project),
      share: project.share === undefined ? null : numbers.percent(project.share),
    })),
  }
}

/** The price of a portfolio on its card. */
export const buildCardPrice = (
  result: PriceResult,
): Pick<OfferedPortfolio, 'price' | 'perTonne'> => {
  if (result.outcome !== 'priced') return { price: null, perTonne: null }
  const { amountMinor, currency, isMinimum, paidPerTonneMinor } = result.price
  return {
    price: formatMoney(amountMinor, currency),
    perTonne: isMinimum ? null : formatMoney(paidPerTonneMinor, currency),
  }
}
