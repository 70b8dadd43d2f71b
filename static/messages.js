// What went wrong, told in the place for messages on every page of the portal.

const place = () => document.getElementById('messages')

// A new attempt: what was said of the one before is over.
document.addEventListener('htmx:before:request', () => {
  place()?.querySelector('.failed, .notice, .offline')?.remove()
})

document.addEventListener('htmx:error', ({ detail: { ctx } }) => {
  // The dashboard tells it beside its figures.
  if (!ctx || document.getElementById('no-connection')) return
  const notice = document.createElement('p')
  notice.className = 'offline'
  notice.setAttribute('role', 'alert')
  notice.textContent =
    ctx.request.method === 'GET'
      ? 'No connection. What stands here is from before.'
      : 'No connection: nothing was saved. What you typed is still here.'
  place()?.replaceChildren(notice)
})
