// The list of orders. Events are delegated because htmx swaps the list.

import '../portal/menus.js'
import './export.js'
import './selection.js'
import './shortcuts.js'

// A click on a row opens its order, like a click on its link.
document.addEventListener('click', (event) => {
  const { target } = event
  const link = target.closest('.orders tbody tr')?.querySelector('.row-link')
  if (!link || target.closest('a, input, label') || !getSelection().isCollapsed) return
  link.dispatchEvent(new MouseEvent('click', event))
})

// Other requests are blocked during a change, because they would cancel it and lose its result.
let pendingChange = null
document.addEventListener('htmx:config:request', (event) => {
  if (pendingChange) event.preventDefault()
})
document.addEventListener('htmx:before:request', ({ detail: { ctx } }) => {
  if (ctx.request.method === 'POST') pendingChange = ctx
})

// The first digits of a year are not a date yet.
document.addEventListener(
  'change',
  (event) => {
    if (event.target.validity.rangeUnderflow) event.stopPropagation()
  },
  { capture: true },
)

// Read before the swap, which may remove the focused element.
let focusedId = ''
let isPaging = false
document.addEventListener('htmx:before:swap', ({ detail: { ctx } }) => {
  focusedId = document.activeElement.id
  isPaging = /^(page|size)-/.test(ctx.sourceElement.id)
})

const NEXT_FOCUS = {
  keep: '#cancel-selected',
  'page-next': '.pages [aria-current]',
  'page-previous': '.pages [aria-current]',
}

const findNextFocus = () =>
  (focusedId && document.getElementById(focusedId)) ||
  document.querySelector(NEXT_FOCUS[focusedId] ?? '#result-count') ||
  document.getElementById('result-count')

document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (pendingChange === ctx) pendingChange = null
  if (ctx.status !== 'swapped') return
  const outcome = ctx.request.method === 'POST' && document.getElementById('outcome')
  if (outcome) outcome.focus({ preventScroll: true })
  else if (document.activeElement === document.body) findNextFocus()?.focus({ preventScroll: true })
  const list = document.getElementById('list')
  if (isPaging && list?.getBoundingClientRect().top < 0) list.scrollIntoView()
})
