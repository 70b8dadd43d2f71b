// What every page of the portal needs: its place for messages, where it is told what was done and
// what went wrong, and links that are pressed like the buttons that they look like.

document.addEventListener('keydown', (event) => {
  if (event.key !== ' ' || !event.target.matches('a[role=button]')) return
  event.preventDefault()
  event.target.click()
})

const place = document.getElementById('messages')

/** Asks once more for what could not be had; `null` where nothing is missing. */
let askAgain = null

// A new attempt: what was said of the one before is over.
document.addEventListener('htmx:before:request', () => {
  askAgain = null
  for (const told of place.querySelectorAll('.failed, .stays')) told.remove()
})

// A message goes by itself, unless it is bad news or there is something to do about it.
const letGo = () => {
  const told = place.querySelector('.message:not(.failed, .stays, :has(button))')
  if (told) setTimeout(() => told.remove(), 10_000)
}
new MutationObserver(letGo).observe(place, { childList: true })
letGo()

place.addEventListener('click', ({ target }) => {
  if (target.matches('[data-close]')) target.closest('.message').remove()
})

const tell = (text, retry) => {
  const message = document.createElement('div')
  message.className = 'message failed'
  message.setAttribute('role', 'alert')
  const words = document.createElement('p')
  words.textContent = text
  message.append(words)
  if (retry) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'quiet small'
    button.textContent = 'Try again'
    button.addEventListener('click', retry)
    message.append(button)
  }
  place.replaceChildren(message)
}

/** Whether a request only looks something up; a sum for a form is asked for by POST. */
const isLook = ({ request, sourceElement }) =>
  request.method === 'GET' || sourceElement.matches('fieldset')

const retryOf = ({ sourceElement: element }) => {
  if (!element.matches('a, button, form, fieldset')) return null
  return () => {
    if (!element.isConnected) return location.reload()
    // The button that was pressed goes with the message.
    element.focus()
    if (element.matches('form')) element.requestSubmit()
    else if (element.matches('fieldset')) element.dispatchEvent(new Event('input'))
    else element.click()
  }
}

// The forms have a version or a key, by which a second sending is known; what spends money is
// looked at first all the same.
const SEND_AGAIN =
  'it is not known whether this was saved. What you typed is still here: send it once more, nothing is done twice.'
const LOOK_FIRST =
  'it is not known whether this was done. Reload the page and look before you do it again.'

const tellOf = (ctx, why) => {
  if (!isLook(ctx))
    return tell(`${why.changing}: ${'once' in ctx.sourceElement.dataset ? LOOK_FIRST : SEND_AGAIN}`)
  tell(`${why.looking}. What stands here is from before.`, (askAgain = retryOf(ctx)))
}

document.addEventListener('htmx:error', ({ detail: { ctx } }) => {
  if (ctx) tellOf(ctx, { looking: 'No connection', changing: 'No answer came' })
})

// What a proxy says of itself is no part of a page; every answer of the service has its id.
document.addEventListener('htmx:before:response', (event) => {
  const { ctx } = event.detail
  const { status, headers } = ctx.response
  if (status < 400 || headers.has('x-request-id')) return
  event.preventDefault()
  const why = `The service cannot be reached (error ${status})`
  tellOf(ctx, { looking: why, changing: why })
})

// What was wanted without a connection is there as soon as the connection is.
addEventListener('online', () => askAgain?.())

// What one is told to press again is not left under the message.
document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (!place.querySelector('.failed')) return
  ctx.sourceElement.querySelector('.form-actions')?.scrollIntoView({ block: 'nearest' })
})
