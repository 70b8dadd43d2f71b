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

// Only what was saved may lead away without a question.
let leaving = false
document.addEventListener('htmx:after:request', ({ detail: { ctx } }) => {
  leaving = Boolean(ctx.hx.redirect) && ctx.response.status < 400
  // Where the way to the login would cost what was typed, the answer's own words are shown.
  if (ctx.response.status === 401 && unsaved()) delete ctx.hx.redirect
})
document.addEventListener('submit', (event) => {
  if (!event.defaultPrevented && event.target.matches('[data-edit]')) leaving = true
})
addEventListener('beforeunload', (event) => {
  if (!leaving && unsaved()) event.preventDefault()
})

// What is typed while a form is under way would be lost with the form that its answer replaces.
const underWay = new Map()
const release = (ctx) => {
  const { form, focused } = underWay.get(ctx) ?? {}
  underWay.delete(ctx)
  if (!form) return
  form.inert = false
  form.removeAttribute('aria-busy')
  if (form.contains(focused) && document.activeElement === document.body) focused.focus()
}
document.addEventListener('htmx:before:request', ({ detail: { ctx } }) => {
  const form = ctx.sourceElement
  if (!form.matches('form[data-edit]')) return
  underWay.set(ctx, { form, focused: document.activeElement })
  form.inert = true
  form.setAttribute('aria-busy', 'true')
})
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (!leaving) release(ctx)
})
// Back by the browser's own way, to the page as it was left.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return
  leaving = false
  for (const ctx of underWay.keys()) release(ctx)
})

// How many fields are still wrong, as the form's notice has it.
document.addEventListener('field-corrected', () => {
  const count = byId('wrong-count')
  const wrong = document.querySelectorAll('#new-order .error:not(:empty)').length
  if (wrong === 0) count?.closest('.order-notice').remove()
  else if (count) count.textContent = wrong === 1 ? 'One field needs' : `${wrong} fields need`
})

const KEYS = {
  j: 'to-next',
  ArrowRight: 'to-next',
  k: 'to-previous',
  ArrowLeft: 'to-previous',
  Escape: 'to-list',
}

/** Escape closes the form that one is in, or the only one, unless there is something to lose. */
const closeUnchanged = ({ target }) => {
  const forms = [...document.querySelectorAll('form[data-edit]')]
  const form = target.closest('form[data-edit]') ?? (forms.length === 1 ? forms[0] : null)
  if (form && !isUnsaved(form)) form.querySelector('[data-discard]')?.click()
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented)
    return
  if (document.querySelector('dialog[open]')) return
  const form = document.querySelector('form[data-edit]')
  if (event.key === 'Escape' && form) return closeUnchanged(event)
  if (form || event.target.matches('input, select, textarea, [contenteditable]')) return
  const link = byId(KEYS[event.key] ?? '')
  if (!link) return
  event.preventDefault()
  link.click()
})

const isSending = (dialog) => dialog.querySelector('form[data-once][aria-busy]') !== null

const backTo = (opener) => {
  const place = opener?.isConnected && opener !== document.body ? opener : byId('place-order')
  ;(place ?? byId('order-title'))?.focus({ preventScroll: true })
}

// A browser lets a dialog keep itself open only once: so it is the key that is held back.
document.addEventListener('keydown', (event) => {
  const dialog = document.querySelector('dialog[open]')
  if (event.key === 'Escape' && dialog && isSending(dialog)) event.preventDefault()
})

const sending = (form, isBusy) => {
  const parts = form.closest('.placement')?.querySelectorAll('button') ?? []
  for (const button of parts) button.disabled = isBusy
  if (isBusy) form.setAttribute('aria-busy', 'true')
  else form.removeAttribute('aria-busy')
}
document.addEventListener('htmx:before:request', ({ detail: { ctx } }) => {
  if (ctx.sourceElement.matches('form[data-once]')) sending(ctx.sourceElement, true)
})
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (ctx.sourceElement.matches('form[data-once]')) sending(ctx.sourceElement, false)
})

document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  window.markFields()
  if (ctx.response?.status === 422) document.querySelector('[aria-invalid=true]')?.focus()
  const dialog = document.querySelector('dialog:not([open])')
  if (dialog?.isConnected && !dialog.dataset.shown) {
    const opener = document.activeElement
    dialog.dataset.shown = 'true'
    // What has been sent cannot be taken back: one stays until it is known what came of it.
    dialog.addEventListener('cancel', (event) => {
      if (isSending(dialog)) event.preventDefault()
    })
    dialog.addEventListener('close', () => {
      const heldFocus = dialog.contains(document.activeElement)
      dialog.remove()
      if (heldFocus || document.activeElement === document.body) backTo(opener)
    })
    dialog.showModal()
  }
})

// What had the focus may be gone with the part that was swapped.
const focusedBefore = new WeakSet()
const isFocused = () => document.activeElement !== document.body
document.addEventListener(
  'htmx:before:request',
  ({ detail: { ctx } }) => isFocused() && focusedBefore.add(ctx),
  { capture: true },
)
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (focusedBefore.has(ctx) && !isFocused()) byId('order-title')?.focus({ preventScroll: true })
  // Why nothing was done stands on top, and what was pressed may be far below.
  if (ctx.response?.status >= 400) byId('notice')?.scrollIntoView({ block: 'nearest' })
})
