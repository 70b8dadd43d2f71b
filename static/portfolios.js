// What a trip can be offset with, and for how much, from the order source. All of it is text of
// somebody else, and an extra: where anything is wrong with it, the page is as it is without.

const PATIENCE_MS = 4000
const MOST_PORTFOLIOS = 12
const MOST_PROJECTS = 8
/** Sums of floating point numbers are a bit off: what is below a millionth of a cent is not there. */
const DIGITS = 6

/** Currencies whose minor unit is not a hundredth (ISO 4217), by how many decimals they have. */
const DECIMALS = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}
const decimalsOf = (currency) =>
  Number(Object.keys(DECIMALS).find((digits) => DECIMALS[digits].includes(currency)) ?? 2)

/** A text of bounded length; where it was longer, it ends with a word, if one is near, and an ellipsis. */
function shortened(text, most) {
  const characters = Array.from(text)
  if (characters.length <= most) return text
  const start = characters.slice(0, most - 1).join('')
  const end = start.lastIndexOf(' ')
  return `${(end > start.length * 0.7 ? start.slice(0, end) : start).trimEnd()}…`
}

/** One line, of bounded length, that cannot turn the direction of what stands around it. */
const line = (value, most) =>
  typeof value === 'string'
    ? shortened(value.replace(/[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim(), most)
    : ''

const list = (value, most) => (Array.isArray(value) ? value.slice(0, most) : [])

/** An address to link to; `null` for one that is not https, or has a name and password in it. */
function httpsUrl(value) {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  return url?.protocol === 'https:' && !url.username && !url.password ? value : null
}

/** The price of a tonne in minor units, as one of the two ways says that an order source may tell it. */
function pricePerTonne({ pricePerTonMinor, currency, cost_per_ton: dollars }) {
  const price =
    typeof pricePerTonMinor === 'number'
      ? { minor: pricePerTonMinor, currency: currency ?? 'USD' }
      : { minor: Math.round(Number(dollars ?? NaN) * 100), currency: 'USD' }
  const isPrice = Number.isSafeInteger(price.minor) && price.minor > 0
  return isPrice && /^[a-z]{3}$/i.test(price.currency)
    ? { ...price, currency: price.currency.toUpperCase() }
    : null
}

const portfolioOf = (given) => ({
  name: line(given?.name, 120),
  description: line(given?.description, 300),
  perTonne: given && pricePerTonne(given),
  projects: list(given?.projects, MOST_PROJECTS)
    .map((project) => ({
      name: line(project?.name, 120),
      country: line(project?.country, 60),
      url: httpsUrl(project?.url),
    }))
    .filter(({ name }) => name !== ''),
})

async function portfolios() {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const answer = await fetch('/api/ordersource/portfolios', { signal })
    if (!answer.ok) return []
    const { portfolios } = await answer.json()
    return list(portfolios, MOST_PORTFOLIOS)
      .map(portfolioOf)
      .filter(({ name, perTonne }) => name !== '' && perTonne !== null)
  } catch {
    return []
  }
}

/** `en` alone would be read as American; the pages are written in British English. */
const locales = navigator.languages.map((locale) => (locale === 'en' ? 'en-GB' : locale))

function money(minor, currency) {
  const digits = decimalsOf(currency)
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const format = new Intl.NumberFormat(locales, { style: 'currency', currency, ...decimals })
  return format.format(minor / 10 ** digits)
}

/** The order source's own rule: rounded up to the minor unit. */
const priceOf = (kilograms, { minor, currency }) =>
  money(Math.ceil(Number(((kilograms / 1000) * minor).toFixed(DIGITS))), currency)

function element(name, { className = '', ...properties }, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  if (className) made.className = className
  made.append(...children)
  return made
}

const foreign = (text) => element('bdi', {}, text)

function projectItem({ name, country, url }) {
  const named = url
    ? element('a', { href: url, rel: 'external noopener noreferrer nofollow' }, foreign(name))
    : foreign(name)
  return element('li', {}, named, ...(country ? [', ', foreign(country)] : []))
}

const offer = (kilograms, { name, description, perTonne, projects }) =>
  element(
    'li',
    {},
    element('h4', {}, foreign(name)),
    element('p', { className: 'price' }, element('strong', {}, priceOf(kilograms, perTonne))),
    element('p', { className: 'per' }, `${money(perTonne.minor, perTonne.currency)} a tonne`),
    element('p', { className: 'about' }, foreign(description)),
    element('ul', {}, ...projects.map(projectItem)),
  )

let asked
async function show() {
  const kilogramsNow = () => Number(document.querySelector('#result .figure data')?.value)
  if (!document.getElementById('offers') || !(kilogramsNow() > 0)) return
  const offered = await (asked ??= portfolios())
  const [place, kilograms] = [document.getElementById('offers'), kilogramsNow()]
  if (!place || !(kilograms > 0) || offered.length === 0) return
  const title = element('h3', { id: 'offers-title' }, 'What offsetting it would cost')
  const items = offered.map((portfolio) => offer(kilograms, portfolio))
  place.replaceChildren(title, element('ul', { className: 'portfolios' }, ...items))
  place.hidden = false
}

document.addEventListener('htmx:after:swap', show)
void show()
