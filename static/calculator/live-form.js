// Calculator and QR code forms: announces new results to screen readers, moves focus after a
// submit, and marks results that no longer match the form.

import { markFields } from '../shared/field-errors.js'
import '../shared/further-lines.js'
import '../shared/reading-choice.js'
import './purchase.js'
import './share.js'

const ANNOUNCEMENT_DELAY_MS = 1000

const findResult = (form) => document.querySelector(form?.getAttribute('hx-target') ?? '#none')

let announcementTimer
function scheduleAnnouncement() {
  clearTimeout(announcementTimer)
  // Delayed, so that results are not announced at every pause in typing.
  announcementTimer = setTimeout(() => {
    const source = document.querySelector('.kept') ?? document.querySelector('[data-announcement]')
    document.getElementById('announcement').textContent = source?.dataset.announcement ?? ''
  }, ANNOUNCEMENT_DELAY_MS)
}

// The service reports all errors at once; browser validation would show only the first.
for (const form of document.querySelectorAll('form[hx-get]')) form.noValidate = true

document.addEventListener('input', ({ target }) => {
  const result = findResult(target.form)
  if (result) result.dataset.stale = 'true'
})

document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  const result = findResult(ctx.sourceElement)
  if (!result) return
  // While a value is invalid, the earlier result stays.
  if (!result.querySelector('.kept')) delete result.dataset.stale
  result.querySelector('.alert')?.remove()
  markFields()
  scheduleAnnouncement()
  if (ctx.sourceEvent?.type !== 'submit') return
  const focusTarget = document.querySelector('[aria-invalid]') ?? document.getElementById('outcome')
  focusTarget?.focus()
})

// A correction starts at the first number.
document.addEventListener('click', (event) => {
  if (!event.target.closest('a[href="#correct"]')) return
  event.preventDefault()
  document.getElementById('correct').scrollIntoView()
  const field = document.querySelector('#trip [inputmode=decimal]')
  field.focus({ preventScroll: true })
  field.select()
})

document.addEventListener('htmx:error', ({ target }) => {
  const result = findResult(target.closest?.('form'))
  if (!result || result.querySelector('.alert')) return
  const notice = document.createElement('p')
  notice.className = 'alert'
  notice.setAttribute('role', 'alert')
  notice.textContent = 'No connection. Showing the earlier result.'
  // The bar stays in view.
  ;(result.querySelector('.buy-bar, .result-bar') ?? result).prepend(notice)
})

addEventListener('online', () => {
  for (const form of document.querySelectorAll('form[hx-trigger*=input]')) {
    if (findResult(form)?.dataset.stale) form.dispatchEvent(new Event('input', { bubbles: true }))
  }
})
