// The button that buys credits follows the chosen portfolio and share, also when the result changes
// or the form is reset. The number of guests on board is a field of the trip.

const STORAGE_KEYS = { portfolio: 'portfolio', share: 'share' }

const chosen = {}
try {
  for (const [name, key] of Object.entries(STORAGE_KEYS)) chosen[name] = sessionStorage.getItem(key)
} catch {
  // The browser blocks storage.
}

/** The share of a guest who has not entered the number of guests yet: it has no price. */
const UNKNOWN_PART = 'guests'

/** Checks the option that was chosen before, or the default. */
function restore(name, options) {
  const option =
    options.find(({ value, disabled }) => value === chosen[name] && !disabled) ??
    options.find(({ defaultChecked }) => defaultChecked)
  if (option) option.checked = true
  return option
}

function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text
}

const toLabel = (price) => (price ? `Buy credits for ${price}` : 'Buy carbon credits')

function showChoice() {
  const link = document.getElementById('checkout')
  if (!link) return
  const shares = [...document.querySelectorAll('.purchase [name=share]')]
  const portfolios = [...document.querySelectorAll('#offers [name=portfolio]')]
  const portfolio = restore('portfolio', portfolios)
  const share = restore('share', shares)
  const url = new URL(portfolio?.dataset.url ?? link.dataset.url, location.href)
  if (share?.value === 'part') url.searchParams.set('forGuests', '1')
  link.href = url.pathname + url.search
  const getPrice = ({ dataset }, { value = 0 } = {}) => JSON.parse(dataset.prices)[value]
  if (share?.value === UNKNOWN_PART) {
    link.href = '#guests-on-board'
    setText(link, 'Enter the guests on board')
  } else if (share) setText(link, toLabel(getPrice(share, portfolio)))
  else if (portfolio) setText(link, portfolio.dataset.label)
  for (const option of shares) {
    if (option.value === UNKNOWN_PART) continue
    setText(option.parentElement.querySelector('strong'), getPrice(option, portfolio) ?? '–')
  }
  for (const option of share ? portfolios : []) {
    const price = getPrice(share, option)
    if (price) setText(option.closest('li').querySelector('.price strong'), price)
  }
  const hasPart = shares.some(({ value }) => value === 'part')
  for (const project of document.querySelectorAll('#offers .projects a')) {
    project.search = hasPart && share?.value === 'whole' ? '?share=whole' : ''
  }
  const name = portfolio?.closest('li').querySelector('bdi')?.textContent
  if (name) setText(document.getElementById('purchase-portfolio'), name)
}

document.addEventListener('change', ({ target }) => {
  const { name, value } = target
  if (!target.matches('#offers [name=portfolio], .purchase [name=share]')) return
  chosen[name] = value
  showChoice()
  // The arrow keys of a keyboard continue to the next choice.
  if (value === UNKNOWN_PART && !target.matches(':focus-visible')) {
    document.getElementById('guests-on-board').focus()
  }
  sessionStorage.setItem(STORAGE_KEYS[name], value)
})

document.addEventListener('input', ({ target }) => {
  if (target.id !== 'guests-on-board') return
  const field = document.querySelector('#trip [name=guests]')
  field.value = target.value
  field.dispatchEvent(new Event('input', { bubbles: true }))
})
// The result is already up to date.
document.addEventListener('submit', (event) => {
  if (event.target.matches('.guests-form')) event.preventDefault()
})

/** The field beside the choices shows that the number of guests is wrong. */
function markGuests() {
  const error = document.getElementById('guests-error')?.textContent
  const field = document.getElementById('guests-on-board')
  setText(document.getElementById('guests-on-board-error'), error ?? '')
  if (error) field?.setAttribute('aria-invalid', 'true')
  else field?.removeAttribute('aria-invalid')
}

document.addEventListener('htmx:after:swap', showChoice)
document.addEventListener('htmx:after:swap', markGuests)
// Back from the order form, the browser restores the choice.
addEventListener('pageshow', showChoice)
showChoice()
