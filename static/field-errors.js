// The errors beside fields, of guests' forms and the portal's: marked for assistive technology,
// and gone when the field is corrected.

window.markFields = () => {
  for (const error of document.querySelectorAll('.field .error')) {
    const field = document.getElementById(error.id.replace(/-error$/, ''))
    if (!error.textContent) field?.removeAttribute('aria-invalid')
    else {
      field?.setAttribute('aria-invalid', 'true')
      error.closest('details')?.setAttribute('open', '')
    }
  }
}

document.addEventListener('input', ({ target }) => {
  const error = document.getElementById(`${target.id}-error`)
  // Where every entry is answered, the answer says what is wrong now.
  if (!error?.textContent || target.closest('[hx-trigger*=input]')) return
  error.textContent = ''
  window.markFields()
  target.dispatchEvent(new Event('field-corrected', { bubbles: true }))
})
