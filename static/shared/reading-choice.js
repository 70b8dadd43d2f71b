// The links below an ambiguous number: takes the other reading without reloading the page.

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('[data-reading]')
  if (!link) return
  event.preventDefault()
  const field = link.closest('.field').querySelector('input')
  field.value = link.dataset.reading
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.focus()
})
