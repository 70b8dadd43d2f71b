// The order page, and the form for a new order.

import { markFields } from '../shared/field-errors.js'
import '../shared/further-lines.js'
import './dialogs.js'
import { hasUnsavedChanges } from './unsaved-changes.js'

const byId = (id) => document.getElementById(id)

// The notice on the new-order form counts the remaining errors.
document.addEventListener('field-corrected', () => {
  const label = byId('error-count')
  const count = document.querySelectorAll('#new-order .error:not(:empty)').length
  if (count === 0) label?.closest('.order-alert').remove()
  else if (label) label.textContent = count === 1 ? '1 error' : `${count} errors`
})

// Keyboard shortcuts

const LINKS = {
  j: 'to-next',
  ArrowRight: 'to-next',
  k: 'to-previous',
  ArrowLeft: 'to-previous',
  Escape: 'to-list',
}

/** Escape closes the current form, or the only one, unless it has unsaved changes. */
function closeForm({ target }) {
  const forms = [...document.querySelectorAll('form[data-edit]')]
  const form = target.closest('form[data-edit]') ?? (forms.length === 1 ? forms[0] : null)
  if (form && !hasUnsavedChanges(form)) form.querySelector('[data-discard]')?.click()
}

document.addEventListener('keydown', (event) => {
  const { ctrlKey, metaKey, altKey, shiftKey, defaultPrevented, key, target } = event
  if (ctrlKey || metaKey || altKey || shiftKey || defaultPrevented) return
  if (document.querySelector('dialog[open]')) return
  const form = document.querySelector('form[data-edit]')
  if (key === 'Escape' && form) return closeForm(event)
  if (form || target.matches('input, select, textarea, [contenteditable]')) return
  const link = byId(LINKS[key] ?? '')
  if (!link) return
  event.preventDefault()
  link.click()
})

// Focus after a swap

document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  markFields()
  if (ctx.response?.status === 422) document.querySelector('[aria-invalid=true]')?.focus()
})

const focusedBefore = new WeakSet()
const hasFocus = () => document.activeElement !== document.body
document.addEventListener(
  'htmx:before:request',
  ({ detail: { ctx } }) => hasFocus() && focusedBefore.add(ctx),
  { capture: true },
)
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  // The swap may have removed the focused element.
  if (focusedBefore.has(ctx) && !hasFocus()) byId('order-title')?.focus({ preventScroll: true })
  // The notice is at the top; the button may be far below.
  if (ctx.response?.status >= 400) byId('notice')?.scrollIntoView({ block: 'nearest' })
})
