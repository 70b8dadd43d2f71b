// What went wrong, told in the place for messages on every page of the portal.

const place = () => document.getElementById('messages')

// A new attempt: what was said of the one before is over.
document.addEventListener('htmx:before:request', () => {
  place()?.querySelector('.failed, .notice, .offline')?.remove()
})

const tell = (text) => {
  const notice = document.createElement('p')
  notice.className = 'offline'
  notice.setAttribute('role', 'alert')
  notice.textContent = text
  place()?.replaceChildren(notice)
}

document.addEventListener('htmx:error', ({ detail: { ctx } }) => {
  // The dashboard tells it beside its figures.
  if (!ctx || document.getElementById('no-connection')) return
  tell(
    ctx.request.method === 'GET'
      ? 'No connection. What stands here is from before.'
      : 'No connection: nothing was saved. What you typed is still here.',
  )
})

// What a proxy says of itself is no part of a page; every answer of the service has its id.
document.addEventListener('htmx:before:response', (event) => {
  const { request, response } = event.detail.ctx
  if (response.status < 400 || response.headers.has('x-request-id')) return
  event.preventDefault()
  const rest =
    request.method === 'GET'
      ? 'What stands here is from before'
      : 'What you typed is still here, and may not be saved'
  tell(`The service cannot be reached (error ${response.status}). ${rest}: try again in a moment.`)
})
