// The order page: follows the order until it is final, shares the certificate, prints the receipt.

import '../certificates/share.js'
import { copyLink } from '../shared/copy-link.js'

/** The longest pause after failures, unless the server sets a longer one. */
const MAX_DELAY_MS = 5 * 60_000

const findRefresh = () => document.querySelector('.refresh')
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
let lastChecked = new Date()
let failures = 0
let timer

function check() {
  clearTimeout(timer)
  findRefresh()?.dispatchEvent(new Event('check'))
}

// The server sets the pause, longer each time; failures double it.
function schedule() {
  clearTimeout(timer)
  const refresh = findRefresh()
  if (!refresh || document.hidden) return
  const delay = Number(refresh.dataset.seconds) * 1000
  timer = setTimeout(check, Math.max(delay, Math.min(delay * 2 ** failures, MAX_DELAY_MS)))
}

// A response replaces the element, or removes it.
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  const refresh = findRefresh()
  const hasFailed = refresh !== null && refresh === ctx.sourceElement
  failures = hasFailed ? failures + 1 : 0
  if (hasFailed) {
    const time = times.format(lastChecked)
    refresh.firstElementChild.textContent = `We could not check for updates. Last checked at ${time}.`
  } else lastChecked = new Date()
  schedule()
})

// A guest who comes back, for example from a banking app, sees the present state at once.
document.addEventListener('visibilitychange', () =>
  document.hidden ? clearTimeout(timer) : check(),
)
addEventListener('online', check)
schedule()

async function copy(button) {
  const result = await copyLink(button, button.dataset.copyLink)
  document.getElementById('share-result').textContent = result
}

document.addEventListener('click', ({ target }) => {
  if (target.matches('[data-copy-link]')) void copy(target)
  if (target.matches('[data-print]')) print()
})
