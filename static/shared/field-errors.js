// Field errors of guest and portal forms: sets aria-invalid, and clears an error when its field is
// corrected.

export function markFields() {
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
  // Forms that are sent on every input get their errors from the response.
  if (!error?.textContent || target.closest('[hx-trigger*=input]')) return
  error.textContent = ''
  markFields()
  target.dispatchEvent(new Event('field-corrected', { bubbles: true }))
})
