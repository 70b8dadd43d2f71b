// The message area of every portal page: results of actions, errors, and retries. Also makes Space
// activate links with the role `button`.

document.addEventListener('keydown', (event) => {
  if (event.key !== ' ' || !event.target.matches('a[role=button]')) return
  event.preventDefault()
  event.target.click()
})

const MESSAGE_DURATION_MS = 10_000
const area = document.getElementById('messages')

/** Repeats the failed request; `null` if there is none, or if it cannot be repeated. */
let retry = null

document.addEventListener('htmx:before:request', () => {
  retry = null
  for (const message of area.querySelectorAll('.failed, .persistent')) message.remove()
})

// Errors, persistent messages and messages with buttons stay.
function removeLater() {
  const message = area.querySelector('.message:not(.failed, .persistent, :has(button))')
  if (message) setTimeout(() => message.remove(), MESSAGE_DURATION_MS)
}
new MutationObserver(removeLater).observe(area, { childList: true })
removeLater()

area.addEventListener('click', ({ target }) => {
  if (target.matches('[data-close]')) target.closest('.message').remove()
})

function showError(text, onRetry) {
  const message = document.createElement('div')
  message.className = 'message failed'
  message.setAttribute('role', 'alert')
  const paragraph = document.createElement('p')
  paragraph.textContent = text
  message.append(paragraph)
  if (onRetry) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'secondary small'
    button.textContent = 'Try again'
    button.addEventListener('click', onRetry)
    message.append(button)
  }
  area.replaceChildren(message)
}

/** Whether a request changes nothing; calculations for a form use POST. */
const isRead = ({ request, sourceElement }) =>
  request.method === 'GET' || sourceElement.matches('fieldset')

function createRetry({ sourceElement: element }) {
  if (!element.matches('a, button, form, fieldset')) return null
  return () => {
    if (!element.isConnected) return location.reload()
    // The retry button disappears with the message.
    element.focus()
    if (element.matches('form')) element.requestSubmit()
    else if (element.matches('fieldset')) element.dispatchEvent(new Event('input'))
    else element.click()
  }
}

// Most forms have a version or an idempotency key. Forms that spend money have `data-once`.
const SAFE_TO_RETRY =
  'We couldn’t confirm that your changes were saved. It’s safe to retry: nothing is saved twice.'
const CHECK_FIRST =
  'We couldn’t confirm whether this was done. Reload the page and check before you try again.'

function reportFailure(ctx, reason) {
  if (isRead(ctx)) {
    retry = createRetry(ctx)
    showError(`${reason} Showing earlier results.`, retry)
  } else {
    showError(`${reason} ${'once' in ctx.sourceElement.dataset ? CHECK_FIRST : SAFE_TO_RETRY}`)
  }
}

document.addEventListener('htmx:error', ({ detail: { ctx } }) => {
  if (ctx) reportFailure(ctx, 'No connection.')
})

// Error pages of proxies are not swapped in; every response of the service has a request ID.
document.addEventListener('htmx:before:response', (event) => {
  const { ctx } = event.detail
  const { status, headers } = ctx.response
  if (status < 400 || headers.has('x-request-id')) return
  event.preventDefault()
  reportFailure(ctx, `The service cannot be reached (error ${status}).`)
})

addEventListener('online', () => retry?.())

// Scrolls the form's buttons into view, because the message can cover them.
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (!area.querySelector('.failed')) return
  ctx.sourceElement.querySelector('.form-actions')?.scrollIntoView({ block: 'nearest' })
})
