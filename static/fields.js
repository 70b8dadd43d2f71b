// What a form's answer needs beyond the swap: fields marked for assistive technology, the
// first wrong one focused after a submit, and a word when no answer comes.

const markFields = () => {
  for (const error of document.querySelectorAll('.field .error')) {
    const field = document.getElementById(error.id.replace(/-error$/, ''))
    if (error.textContent) field?.setAttribute('aria-invalid', 'true')
    else field?.removeAttribute('aria-invalid')
  }
}

const showOutcome = () => {
  const wrong = document.querySelector('[aria-invalid]')
  const closed = wrong?.closest('details:not([open])')
  if (closed) closed.open = true
  if (wrong) wrong.focus()
  else document.getElementById('code')?.scrollIntoView({ block: 'nearest' })
}

document.addEventListener('htmx:after:swap', ({ detail }) => {
  markFields()
  if (detail.ctx.sourceEvent?.type === 'submit') showOutcome()
})

document.addEventListener('htmx:error', () => {
  const headline = document.querySelector('.headline')
  if (!headline || headline.querySelector('.offline')) return
  const notice = document.createElement('p')
  notice.className = 'offline'
  notice.setAttribute('role', 'alert')
  notice.textContent = 'No connection: nothing new to show. Change something to try again.'
  headline.append(notice)
})
