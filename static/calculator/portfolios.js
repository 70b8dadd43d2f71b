// Lists the provider's portfolios with the price of offsetting the result. The data are untrusted
// and optional: invalid entries are skipped, and after any error the page has no list.

const TIMEOUT_MS = 4000
const MAX_PORTFOLIOS = 12
const MAX_PROJECTS = 8
/** Decimal places that are kept, so that floating-point errors do not affect rounded prices. */
const PRICE_PRECISION = 6

/** Currencies without two decimals (ISO 4217), by number of decimals. */
const CURRENCIES_BY_DECIMALS = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}
const getDecimals = (currency) =>
  Number(
    Object.keys(CURRENCIES_BY_DECIMALS).find((decimals) =>
      CURRENCIES_BY_DECIMALS[decimals].includes(currency),
    ) ?? 2,
  )

/** Truncates with an ellipsis, at a word boundary if one is near. */
function truncate(text, maxLength) {
  const characters = Array.from(text)
  if (characters.length <= maxLength) return text
  const start = characters.slice(0, maxLength - 1).join('')
  const end = start.lastIndexOf(' ')
  return `${(end > start.length * 0.7 ? start.slice(0, end) : start).trimEnd()}…`
}

/** A single line without control or direction characters. */
const toLine = (value, maxLength) =>
  typeof value === 'string'
    ? truncate(
        value.replace(/[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim(),
        maxLength,
      )
    : ''

const toList = (value, maxLength) => (Array.isArray(value) ? value.slice(0, maxLength) : [])

/** An https URL without credentials, or `null`. */
function toHttpsUrl(value) {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  return url?.protocol === 'https:' && !url.username && !url.password ? value : null
}

/** The price per tonne in minor units, from either of the two formats that providers use. */
function parsePricePerTonne({ pricePerTonMinor, currency, cost_per_ton: dollars }) {
  const price =
    typeof pricePerTonMinor === 'number'
      ? { minor: pricePerTonMinor, currency: currency ?? 'USD' }
      : { minor: Math.round(Number(dollars ?? NaN) * 100), currency: 'USD' }
  const isPrice = Number.isSafeInteger(price.minor) && price.minor > 0
  return isPrice && /^[a-z]{3}$/i.test(price.currency)
    ? { ...price, currency: price.currency.toUpperCase() }
    : null
}

const parsePortfolio = (raw) => ({
  id: Number.isSafeInteger(raw?.id) ? raw.id : null,
  name: toLine(raw?.name, 120),
  description: toLine(raw?.description, 300),
  perTonne: raw && parsePricePerTonne(raw),
  projects: toList(raw?.projects, MAX_PROJECTS)
    .map((project) => ({
      name: toLine(project?.name, 120),
      country: toLine(project?.country, 60),
      url: toHttpsUrl(project?.url),
    }))
    .filter(({ name }) => name !== ''),
})

async function fetchPortfolios() {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch('/api/ordersource/portfolios', { signal })
    if (!response.ok) return []
    const { portfolios } = await response.json()
    return toList(portfolios, MAX_PORTFOLIOS)
      .map(parsePortfolio)
      .filter(({ name, perTonne }) => name !== '' && perTonne !== null)
  } catch {
    return []
  }
}

const findSection = () => document.getElementById('offers')

function formatMoney(minor, currency) {
  const decimals = getDecimals(currency)
  const format = new Intl.NumberFormat(findSection()?.dataset.locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
  return format.format(minor / 10 ** decimals)
}

/** Rounds off floating-point errors. */
const toPrecise = (value) => Number(value.toFixed(PRICE_PRECISION))

/** The price of an order: see docs/ordering.md. */
function calculatePrice(kilograms, { minor, currency }) {
  const { feePercent = 0, ...terms } = findSection()?.dataset ?? {}
  const offset = Math.ceil(toPrecise((Math.round(kilograms * 1000) * minor) / 1_000_000))
  const fee = Math.round(toPrecise((offset * Number(feePercent)) / 100))
  if (currency !== terms.currency) return offset + fee
  const step = Number(terms.step)
  return Math.ceil(Math.max(offset + fee, Number(terms.minimum)) / step) * step
}

/** The price with the operator's fee, as the service calculates it. */
const formatPrice = (kilograms, price) =>
  formatMoney(calculatePrice(kilograms, price), price.currency)

/** The price per tonne with the operator's fee. The minimum applies only to orders. */
const formatPerTonne = ({ minor, currency }) => {
  const feePercent = Number(findSection()?.dataset.feePercent ?? 0)
  return formatMoney(Math.ceil(toPrecise(minor * (1 + feePercent / 100))), currency)
}

function createElement(name, { className = '', ...properties }, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  if (className) element.className = className
  element.append(...children)
  return element
}

const createBdi = (text) => createElement('bdi', {}, text)

function createProjectItem({ name, country, url }) {
  const label = url
    ? createElement(
        'a',
        { href: url, rel: 'external noopener noreferrer nofollow' },
        createBdi(name),
      )
    : createBdi(name)
  return createElement('li', {}, label, ...(country ? [', ', createBdi(country)] : []))
}

// If there is a checkout, guests choose a portfolio. The button shows the price, and its link
// passes the portfolio to the order form.
const findCheckout = () => document.getElementById('checkout')
let chosenId = null

function showChoice(kilograms, portfolios) {
  const link = findCheckout()
  const chosen = portfolios.find(({ id }) => id === chosenId)
  if (!link || !chosen) return
  const url = new URL(link.href)
  url.searchParams.set(link.dataset.parameter, chosen.id)
  link.href = url.href
  link.textContent = `Offset for ${formatPrice(kilograms, chosen.perTonne)}`
}

function createName({ id, name }) {
  if (id === null || !findCheckout()) return createBdi(name)
  const radio = createElement('input', { type: 'radio', name: 'portfolio', value: id })
  radio.checked = id === chosenId
  return createElement('label', {}, radio, createBdi(name))
}

const createPortfolioItem = (kilograms, { id, name, description, perTonne, projects }) =>
  createElement(
    'li',
    {},
    createElement('h4', {}, createName({ id, name })),
    createElement(
      'p',
      { className: 'price' },
      createElement('strong', {}, formatPrice(kilograms, perTonne)),
    ),
    createElement('p', { className: 'per' }, `${formatPerTonne(perTonne)} per tonne`),
    createElement('p', { className: 'about' }, createBdi(description)),
    createElement('ul', {}, ...projects.map(createProjectItem)),
  )

const getKilograms = () => Number(document.querySelector('#result .figure data')?.value)

let portfoliosPromise
async function showPortfolios() {
  if (!findSection() || !(getKilograms() > 0)) return
  const portfolios = await (portfoliosPromise ??= fetchPortfolios())
  // The result may have changed during the request.
  const [section, kilograms] = [findSection(), getKilograms()]
  if (!section || !(kilograms > 0) || portfolios.length === 0) return
  const title = createElement('h3', { id: 'offers-title' }, 'Price to offset this trip')
  if (!portfolios.some(({ id }) => id === chosenId)) chosenId = portfolios[0].id
  const items = portfolios.map((portfolio) => createPortfolioItem(kilograms, portfolio))
  section.replaceChildren(title, createElement('ul', { className: 'portfolios' }, ...items))
  section.hidden = false
  showChoice(kilograms, portfolios)
}

document.addEventListener('change', async ({ target }) => {
  if (!target.matches('#offers [name=portfolio]')) return
  chosenId = Number(target.value)
  showChoice(getKilograms(), await portfoliosPromise)
})
document.addEventListener('htmx:after:swap', showPortfolios)
void showPortfolios()
