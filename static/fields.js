// What a form's answer needs beyond the swap: a word for those who cannot see it, the outcome in
// view after a submit, and honesty about what is out of date.

const outcomeOf = (form) => document.querySelector(form?.getAttribute('hx-target') ?? '#none')

let announcing
const announce = () => {
  clearTimeout(announcing)
  // Not at every pause while somebody types.
  announcing = setTimeout(() => {
    const words = document.querySelector('[data-announcement]')?.dataset.announcement
    document.getElementById('announcement').textContent = words ?? ''
  }, 1000)
}

// The service's own words stand beside every wrong field at once; the browser would show one.
for (const form of document.querySelectorAll('form[hx-get]')) form.noValidate = true

document.addEventListener('input', ({ target }) => {
  const outcome = outcomeOf(target.form)
  if (outcome) outcome.dataset.stale = 'true'
})

document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  const outcome = outcomeOf(ctx.sourceElement)
  if (!outcome) return
  delete outcome.dataset.stale
  outcome.querySelector('.offline')?.remove()
  window.markFields()
  announce()
  if (ctx.sourceEvent?.type !== 'submit') return
  const next = document.querySelector('[aria-invalid]') ?? document.getElementById('outcome')
  next?.focus()
})

document.addEventListener('htmx:error', ({ target }) => {
  const outcome = outcomeOf(target.closest?.('form'))
  if (!outcome || outcome.querySelector('.offline')) return
  const notice = document.createElement('p')
  notice.className = 'offline'
  notice.setAttribute('role', 'alert')
  notice.textContent = 'No connection. What stands here is for earlier entries.'
  outcome.prepend(notice)
})

addEventListener('online', () => {
  for (const form of document.querySelectorAll('form[hx-trigger*=input]')) {
    if (outcomeOf(form)?.dataset.stale) form.dispatchEvent(new Event('input', { bubbles: true }))
  }
})

// A fault is known only after the title has gone out with the loading state.
const fault = document.querySelector('.fault h1')
if (fault) document.title = `${fault.textContent} · Clearwake`
