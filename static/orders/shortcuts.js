// Keyboard shortcuts of the list: `/` to search, arrow keys between rows, Space to select, Escape
// to go back.

const getLinks = () => [...document.querySelectorAll('.row-link')]

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const search = document.getElementById('q')
  const isTyping = event.target.matches('input:not([type=checkbox]), select, textarea')
  const links = getLinks()
  const index = links.findIndex((link) => link.closest('tr').contains(document.activeElement))
  if (event.key === '/' && !isTyping) {
    event.preventDefault()
    search?.focus()
    search?.select()
  } else if (event.key === 'Escape' && document.getElementById('keep')) {
    document.getElementById('keep').click()
  } else if (event.key === 'Escape') {
    const details = event.target.closest('details[open]')
    if (details) {
      details.open = false
      details.querySelector('summary').focus()
    } else if (index >= 0) search?.focus()
    else if (event.target === search && search.value === '') links[0]?.focus()
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    if (isTyping && event.target !== search) return
    const next = links[event.key === 'ArrowDown' ? index + 1 : index - 1]
    if (next) next.focus()
    else if (index === 0) search?.focus()
    else return
    event.preventDefault()
  } else if (event.key === ' ' && event.target.matches('.row-link')) {
    event.preventDefault()
    event.target.closest('tr').querySelector('[name=order]').click()
  }
})

// A link to a row, from an order's page. Navigating to a fragment moves the focus, so wait for it.
addEventListener('load', () => {
  if (!location.hash.startsWith('#row-')) return
  const row = document.getElementById(location.hash.slice(1))
  requestAnimationFrame(() => row?.querySelector('.row-link')?.focus())
})
