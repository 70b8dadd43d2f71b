// What an order's page and the form of a new one need beyond the swap: keys, the dialog, the
// focus, and nothing typed that is lost unseen.

const byId = (id) => document.getElementById(id)

const isChanged = ({ type, options, checked, defaultChecked, value, defaultValue }) => {
  if (options) return [...options].some((option) => option.selected !== option.defaultSelected)
  if (type === 'radio') return checked !== defaultChecked
  return type !== 'hidden' && type !== 'submit' && value !== defaultValue
}

const isUnsaved = (form) =>
  form.hasAttribute('data-unsaved') ||
  [...form.elements].some((field) => field.matches('input, select, textarea') && isChanged(field))

const unsaved = () => [...document.querySelectorAll('form[data-edit]')].some(isUnsaved)

let leaving = false
document.addEventListener('htmx:after:request', ({ detail: { ctx } }) => {
  leaving = Boolean(ctx.hx?.redirect)
})
document.addEventListener('submit', (event) => {
  if (!event.defaultPrevented) leaving = true
})
addEventListener('beforeunload', (event) => {
  if (!leaving && unsaved()) event.preventDefault()
})

// The service's own words stand beside every wrong field at once; the browser would show one.
const markFields = () => {
  for (const error of document.querySelectorAll('.field .error')) {
    const field = byId(error.id.replace(/-error$/, ''))
    if (!error.textContent) field?.removeAttribute('aria-invalid')
    else {
      field?.setAttribute('aria-invalid', 'true')
      error.closest('details')?.setAttribute('open', '')
    }
  }
}

const KEYS = {
  j: 'to-next',
  ArrowRight: 'to-next',
  k: 'to-previous',
  ArrowLeft: 'to-previous',
  Escape: 'to-list',
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented)
    return
  const isTyping = event.target.matches('input, select, textarea, [contenteditable]')
  if (
    isTyping ||
    document.querySelector('dialog[open]') ||
    document.querySelector('form[data-edit]')
  )
    return
  const link = byId(KEYS[event.key] ?? '')
  if (!link) return
  event.preventDefault()
  link.click()
})

// A message goes by itself, unless it is bad news or there is something to do about it.
const message = () => document.querySelector('.message:not(.failed, :has(button))')
const letGo = () => {
  const told = message()
  if (told) setTimeout(() => told.remove(), 10_000)
}
letGo()

document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  letGo()
  markFields()
  if (ctx.response?.status === 422) document.querySelector('[aria-invalid=true]')?.focus()
  const dialog = document.querySelector('dialog:not([open])')
  if (dialog?.isConnected && !dialog.dataset.shown) {
    dialog.dataset.shown = 'true'
    dialog.addEventListener('close', () => dialog.remove())
    dialog.showModal()
  }
})

// What had the focus may be gone with the part that was swapped.
document.addEventListener('htmx:finally:request', () => {
  if (document.activeElement === document.body) byId('order-title')?.focus({ preventScroll: true })
})
