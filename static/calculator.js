// Marks fields as invalid for assistive technology when their message changes, and says so
// when an answer cannot be fetched.
const markFields = () => {
  for (const error of document.querySelectorAll('.field .error')) {
    const field = document.getElementById(error.id.replace(/-error$/, ''))
    if (!field) continue
    if (error.textContent) field.setAttribute('aria-invalid', 'true')
    else field.removeAttribute('aria-invalid')
  }
}

document.addEventListener('htmx:after:swap', markFields)

document.addEventListener('htmx:error', () => {
  const headline = document.querySelector('#result .headline')
  if (!headline || headline.querySelector('.offline')) return
  const notice = document.createElement('p')
  notice.className = 'offline'
  notice.setAttribute('role', 'alert')
  notice.textContent = 'No connection: this is the last result. Type on to try again.'
  headline.append(notice)
})
