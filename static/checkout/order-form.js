import '../shared/field-errors.js'

// A portfolio that is chosen with a pointer closes the list. With arrow keys, every portfolio on the
// way is chosen, so the list stays open.

document.addEventListener('click', ({ target, detail }) => {
  const card = target.closest('.chosen-portfolio li')
  if (!card || detail === 0 || target.closest('a')) return
  const list = card.closest('details')
  list.open = false
  list.querySelector('summary').focus()
})

document.addEventListener('field-corrected', ({ target }) => {
  const entry = document.querySelector(`.error-summary a[href="#${target.id}"]`)?.closest('li')
  const summary = entry?.closest('.error-summary')
  entry?.remove()
  if (summary && !summary.querySelector('li')) summary.remove()
})

document.addEventListener('click', ({ target }) => {
  const { email } = target.dataset
  if (email === undefined) return
  const field = document.getElementById('email')
  field.value = email
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }))
  field.focus()
})
