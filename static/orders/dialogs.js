// Opens dialogs that htmx swaps in. A dialog with a form that spends money (`data-once`) stays open
// while the form is sent.

const isSending = (dialog) => dialog.querySelector('form[data-once][aria-busy]') !== null

function setSending(form, isBusy) {
  for (const button of form.closest('.dialog')?.querySelectorAll('button') ?? []) {
    button.disabled = isBusy
  }
  if (isBusy) form.setAttribute('aria-busy', 'true')
  else form.removeAttribute('aria-busy')
}
document.addEventListener('htmx:before:request', ({ detail: { ctx } }) => {
  if (ctx.sourceElement.matches('form[data-once]')) setSending(ctx.sourceElement, true)
})
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (ctx.sourceElement.matches('form[data-once]')) setSending(ctx.sourceElement, false)
})

// Browsers let a page cancel the `cancel` event only once, so the key is intercepted as well.
document.addEventListener('keydown', (event) => {
  const dialog = document.querySelector('dialog[open]')
  if (event.key === 'Escape' && dialog && isSending(dialog)) event.preventDefault()
})

function restoreFocus(opener) {
  const target =
    opener?.isConnected && opener !== document.body
      ? opener
      : (document.getElementById('place-order') ?? document.getElementById('order-title'))
  target?.focus({ preventScroll: true })
}

document.addEventListener('htmx:after:swap', () => {
  const dialog = document.querySelector('dialog:not([open])')
  if (!dialog?.isConnected || dialog.dataset.shown) return
  const opener = document.activeElement
  dialog.dataset.shown = 'true'
  dialog.addEventListener('cancel', (event) => {
    if (isSending(dialog)) event.preventDefault()
  })
  dialog.addEventListener('close', () => {
    const heldFocus = dialog.contains(document.activeElement)
    dialog.remove()
    if (heldFocus || document.activeElement === document.body) restoreFocus(opener)
  })
  dialog.showModal()
})
