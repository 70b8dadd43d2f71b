// Protects unsaved changes in forms with `data-edit`.

const isChanged = ({ type, options, checked, defaultChecked, value, defaultValue }) => {
  if (options) return [...options].some((option) => option.selected !== option.defaultSelected)
  if (type === 'radio') return checked !== defaultChecked
  return type !== 'hidden' && type !== 'submit' && value !== defaultValue
}

export const hasUnsavedChanges = (form) =>
  form.hasAttribute('data-unsaved') ||
  [...form.elements].some((field) => field.matches('input, select, textarea') && isChanged(field))

const isPageUnsaved = () =>
  [...document.querySelectorAll('form[data-edit]')].some(hasUnsavedChanges)

// Leaving after a save needs no confirmation.
let isLeaving = false
document.addEventListener('htmx:after:request', ({ detail: { ctx } }) => {
  isLeaving = Boolean(ctx.hx.redirect) && ctx.response.status < 400
  // A redirect to sign-in would lose the changes, so show the message of the response instead.
  if (ctx.response.status === 401 && isPageUnsaved()) delete ctx.hx.redirect
})
document.addEventListener('submit', (event) => {
  if (!event.defaultPrevented && event.target.matches('[data-edit]')) isLeaving = true
})
addEventListener('beforeunload', (event) => {
  if (!isLeaving && isPageUnsaved()) event.preventDefault()
})

// A form is inert while it is sent, because the response replaces it.
const pending = new Map()
function enable(ctx) {
  const { form, focused } = pending.get(ctx) ?? {}
  pending.delete(ctx)
  if (!form) return
  form.inert = false
  form.removeAttribute('aria-busy')
  if (form.contains(focused) && document.activeElement === document.body) focused.focus()
}
document.addEventListener('htmx:before:request', ({ detail: { ctx } }) => {
  const form = ctx.sourceElement
  if (!form.matches('form[data-edit]')) return
  pending.set(ctx, { form, focused: document.activeElement })
  form.inert = true
  form.setAttribute('aria-busy', 'true')
})
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (!isLeaving) enable(ctx)
})
// Restored from the back/forward cache
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return
  isLeaving = false
  for (const ctx of pending.keys()) enable(ctx)
})
