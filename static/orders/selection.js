// Selected orders and the bar of bulk actions. Orders on other pages of the list stay selected.

import { showMessage } from './message.js'

const STORAGE_KEY = 'clearwake-selection'

const getForm = () => document.getElementById('bulk-form')
const getBoxes = () => [...document.querySelectorAll('#bulk-form [name=order][type=checkbox]')]
const getAllMatching = () => document.getElementById('all-matching')
const getId = ({ value }) => value.split(':')[0]
/** Identifies the filters, regardless of sort order and page */
const getFilters = () => getForm()?.dataset.filters ?? ''

/** The values of the selected orders, by order ID */
let selected = new Map()
let filters = getFilters()

function readSelection() {
  const inputs = document.querySelectorAll('#bulk-form [name=order]:is(:checked, [type=hidden])')
  selected = new Map([...inputs].map((input) => [getId(input), input.value]))
}

function showSelection() {
  const boxes = getBoxes()
  const elsewhere = new Map(selected)
  for (const box of boxes) {
    box.checked = selected.has(getId(box))
    elsewhere.delete(getId(box))
  }
  document.getElementById('other-selected')?.replaceChildren(
    ...[...elsewhere.values()].map((value) => {
      const input = document.createElement('input')
      Object.assign(input, { type: 'hidden', name: 'order', value })
      return input
    }),
  )
  showCounts(boxes, elsewhere.size)
}

function showCounts(boxes, elsewhereCount) {
  const matching = getAllMatching()
  const isForAll = matching?.checked ?? false
  const count = document.getElementById('selected-count')
  if (count) count.textContent = isForAll ? matching.dataset.count : selected.size
  const elsewhere = document.getElementById('elsewhere-count')
  if (elsewhere)
    elsewhere.textContent =
      elsewhereCount === 0 || isForAll ? '' : `, ${elsewhereCount} on other pages`
  const all = document.getElementById('select-all')
  if (all) {
    const checkedCount = boxes.filter(({ checked }) => checked).length
    all.checked = checkedCount > 0 && checkedCount === boxes.length
    all.indeterminate = checkedCount > 0 && !all.checked
  }
  updateBarHeight()
}

function updateBarHeight() {
  const bar = document.querySelector('.bulk-bar')
  document.documentElement.style.setProperty('--bulk-bar-height', `${bar?.offsetHeight ?? 0}px`)
}

/** After a change of the filters, deselects orders that are not on the page. */
function deselectUnlisted() {
  const listed = new Set(getBoxes().map(getId))
  const dropped = [...selected.keys()].filter((id) => !listed.has(id))
  for (const id of dropped) selected.delete(id)
  const matching = getAllMatching()
  if (matching) matching.checked = false
  if (dropped.length === 0) return
  showMessage(
    dropped.length === 1
      ? '1 selected order is not on this page and was deselected.'
      : `${dropped.length} selected orders are not on this page and were deselected.`,
  )
}

document.addEventListener('change', ({ target }) => {
  if (target.id === 'select-all') for (const box of getBoxes()) box.checked = target.checked
  else if (target.id !== 'all-matching' && target.name !== 'order') return
  const matching = getAllMatching()
  if (matching && target !== matching && !target.checked) matching.checked = false
  readSelection()
  showSelection()
})

document.addEventListener('click', ({ target }) => {
  if (target.id !== 'clear-selection') return
  selected.clear()
  const matching = getAllMatching()
  if (matching) matching.checked = false
  showSelection()
  document.getElementById('result-count')?.focus({ preventScroll: true })
})

document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  // Morphing keeps what the user has changed in forms. A reset after a success shows the new state.
  if (ctx.target?.id === 'orders' && ctx.response?.status < 400) {
    document.getElementById('filters')?.reset()
    if (ctx.request.method !== 'GET') getForm()?.reset()
  }
  if (ctx.request.method !== 'GET') readSelection()
  else if (getFilters() !== filters) deselectUnlisted()
  filters = getFilters()
  showSelection()
})

// Opening an order and going back keeps the selection.
addEventListener('pagehide', () => {
  const values = [...selected.values()]
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ filters, values }))
})

function restoreSelection() {
  const [navigation] = performance.getEntriesByType('navigation')
  const isBack = navigation?.type === 'back_forward'
  if (!isBack && !/\/admin\/orders\/\d+/.test(document.referrer)) return
  const stored = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}')
  if (stored.filters !== filters) return
  for (const value of stored.values) selected.set(getId({ value }), value)
}

addEventListener('resize', updateBarHeight)
readSelection()
restoreSelection()
showSelection()
