// Saved views: names and URLs of lists, in local storage.

import { createButton, showMessage } from './message.js'

const KEY = 'clearwake-views'

function loadViews() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '[]').filter(
      ({ name, query }) => typeof name === 'string' && typeof query === 'string',
    )
  } catch {
    return []
  }
}

function saveViews(views) {
  localStorage.setItem(KEY, JSON.stringify(views))
  render()
}

const focusMenu = () => document.querySelector('#views > summary').focus()

function createItem({ name, query }) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = `/admin/orders${query}`
  link.textContent = name
  if (query === location.search) link.setAttribute('aria-current', 'true')
  const remove = createButton('Remove', () => {
    saveViews(loadViews().filter((view) => view.name !== name))
    focusMenu()
    showMessage(`The view “${name}” was removed.`)
  })
  remove.setAttribute('aria-label', `Remove view ${name}`)
  item.append(link, remove)
  return item
}

function render() {
  document.getElementById('saved-views')?.replaceChildren(...loadViews().map(createItem))
}

document.addEventListener('submit', (event) => {
  if (event.target.id !== 'save-view') return
  event.preventDefault()
  const field = document.getElementById('view-name')
  const name = field.value.trim()
  if (!name) return
  const getOthers = () => loadViews().filter((view) => view.name !== name)
  const replaced = loadViews().find((view) => view.name === name)
  saveViews([...getOthers(), { name, query: location.search }])
  field.value = ''
  if (replaced === undefined) {
    showMessage(`The view “${name}” was saved.`)
    return
  }
  const undo = createButton('Undo', () => {
    saveViews([...getOthers(), replaced])
    focusMenu()
    showMessage(`The view “${name}” was restored.`)
  })
  showMessage(`The view “${name}” was replaced with this list.`, undo)
})
document.addEventListener('htmx:after:swap', render)
render()
