// Menus in dropdowns: a click outside an open menu, or on one of its date ranges, closes it, and so
// does sending its form.

document.addEventListener('click', (event) => {
  for (const menu of document.querySelectorAll('.dropdown[open]')) {
    if (!event.composedPath().includes(menu) || event.target.closest('.presets')) menu.open = false
  }
})
document.addEventListener('submit', ({ target }) => {
  const menu = target.closest('.dropdown')
  if (!menu) return
  menu.open = false
  menu.querySelector('summary').focus()
})
