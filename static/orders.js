// Keys of the list: `/` to the search, arrows through the rows, Escape back to them.

const rows = () => [...document.querySelectorAll('.row-link')]

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const search = document.getElementById('q')
  const typing = event.target.matches('input, select, textarea')
  if (event.key === '/' && !typing) {
    event.preventDefault()
    search?.focus()
    search?.select()
  } else if (event.key === 'Escape' && event.target === search) {
    rows()[0]?.focus()
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    if (typing && event.target !== search) return
    const links = rows()
    const at = links.indexOf(document.activeElement)
    const next = links[event.key === 'ArrowDown' ? at + 1 : at - 1]
    if (next === undefined) return
    event.preventDefault()
    next.focus()
  }
})
