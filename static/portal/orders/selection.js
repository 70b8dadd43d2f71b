// Selected rows and the bar of bulk actions.

import { showMessage } from './message.js'

const getBoxes = () => [...document.querySelectorAll('[name=order]')]
const getId = ({ value }) => value.split(':')[0]

function update() {
  const count = getBoxes().filter(({ checked }) => checked).length
  const label = document.getElementById('selected-count')
  if (label) label.textContent = count
  const bar = document.querySelector('.bulk-bar')
  document.documentElement.style.setProperty('--bulk-bar-height', `${bar?.offsetHeight ?? 0}px`)
  const all = document.getElementById('select-all')
  if (all) {
    all.checked = count > 0 && count === getBoxes().length
    all.indeterminate = count > 0 && !all.checked
  }
}

// Another sort or page shows other rows: those still on the page stay selected.
let previousIds = []

function restoreSelection() {
  const ids = new Set(previousIds)
  for (const box of getBoxes()) if (ids.delete(getId(box))) box.checked = true
  if (ids.size === 0) return
  showMessage(
    ids.size === 1
      ? '1 selected order is not on this page and was deselected.'
      : `${ids.size} selected orders are not on this page and were deselected.`,
  )
}

document.addEventListener('change', ({ target }) => {
  if (target.id === 'select-all') for (const box of getBoxes()) box.checked = target.checked
  if (target.id === 'select-all' || target.name === 'order') update()
})
document.addEventListener('htmx:before:swap', () => {
  previousIds = getBoxes()
    .filter(({ checked }) => checked)
    .map(getId)
})
document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  // Morphing keeps what the user has changed in forms; after a success, they show the new state.
  if (ctx.target?.id === 'orders' && ctx.response?.status < 400) {
    document.getElementById('filters')?.reset()
    document.getElementById('bulk-form')?.reset()
  }
  if (ctx.request.method === 'GET') restoreSelection()
  update()
})
addEventListener('resize', update)
update()
