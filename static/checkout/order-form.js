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
  if (!summary || summary.querySelector('li')) return
  summary.remove()
  document.title = document.title.replace(/^Error: /, '')
})

document.addEventListener('click', ({ target }) => {
  const { email } = target.dataset
  if (email === undefined) return
  const field = document.getElementById('email')
  field.value = email
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }))
  field.focus()
})

// What the guest typed is kept while they edit the trip.

const KEPT_TEXTS = 'order-details'
const texts = [...document.querySelectorAll('.order-form .field input:not([type=checkbox])')]

document.addEventListener('click', ({ target }) => {
  if (!target.closest('a[href^="/calculator/"]')) return
  const kept = Object.fromEntries(texts.map(({ id, value }) => [id, value]))
  sessionStorage.setItem(KEPT_TEXTS, JSON.stringify(kept))
})

try {
  const kept = JSON.parse(sessionStorage.getItem(KEPT_TEXTS) ?? '{}')
  sessionStorage.removeItem(KEPT_TEXTS)
  for (const field of texts) {
    if (field.value !== '' || !kept[field.id]) continue
    field.value = kept[field.id]
    const options = field.closest('details')
    if (options) options.open = true
  }
} catch {
  // The browser blocks storage.
}
