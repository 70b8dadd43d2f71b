// API reference: navigation, search, language of the examples, copying. try-it.js sends requests.
import { highlightCode } from './highlight.js'
import './try-it.js'

const nav = document.querySelector('.docs-nav')
const menu = nav.querySelector('.docs-menu')
const links = [...nav.querySelectorAll('nav a')]
const getTarget = (link) => document.getElementById(link.hash.slice(1))

// Position: marks the section in view, and opens its group.

let current = null
/** The group that is open because of the position; others stay as the user left them. */
let opened = nav.querySelector('nav details[open]')

function markCurrent(link) {
  if (link === current) return
  current?.removeAttribute('aria-current')
  current = link
  link.setAttribute('aria-current', 'location')
  if (search.value !== '') return
  const group = link.closest('details')
  if (opened && opened !== group) opened.open = false
  if (!group.open) opened = group
  group.open = true
  // Only the navigation scrolls, not the page.
  const list = nav.querySelector('.docs-list')
  const offset = link.getBoundingClientRect().top - list.getBoundingClientRect().top
  if (offset < 0 || offset > list.clientHeight - 60)
    list.scrollTop += offset - list.clientHeight / 3
}

function findCurrent() {
  const top = innerHeight / 4
  const passed = links.filter((link) => getTarget(link)?.getBoundingClientRect().top < top)
  markCurrent(passed.at(-1) ?? links[0])
}

let isScheduled = false
addEventListener(
  'scroll',
  () => {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(() => {
      isScheduled = false
      findCurrent()
    })
  },
  { passive: true },
)

// Search: shows the links with every word in their title or, if there are none, in their section.

const search = document.getElementById('docs-search')
const noMatch = document.getElementById('docs-no-match')
let texts = null

const readTexts = () =>
  new Map(links.map((link) => [link, getTarget(link)?.textContent.toLowerCase() ?? '']))

const getMatches = () => links.filter((link) => !link.parentElement.hidden)

function filter() {
  texts ??= readTexts()
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  const hasAll = (text) => words.every((word) => text.includes(word))
  const titled = links.filter((link) => hasAll(link.textContent.toLowerCase()))
  const found = new Set(
    titled.length > 0 ? titled : links.filter((link) => hasAll(texts.get(link))),
  )
  for (const link of links) link.parentElement.hidden = !found.has(link)
  for (const details of nav.querySelectorAll('nav details')) {
    details.hidden = !details.querySelector('li:not([hidden])')
    details.open = words.length > 0 || details.contains(current)
  }
  opened = current.closest('details')
  noMatch.textContent = found.size === 0 ? 'No matches' : ''
}

search.addEventListener('input', filter)

search.addEventListener('keydown', (event) => {
  const [first] = getMatches()
  if (event.key === 'Enter') first?.click()
  else if (event.key === 'ArrowDown') first?.focus()
  else if (event.key === 'Escape') {
    search.value = ''
    filter()
  } else return
  event.preventDefault()
})

nav.addEventListener('keydown', (event) => {
  if (!['ArrowDown', 'ArrowUp'].includes(event.key) || !event.target.matches('nav a')) return
  const matches = getMatches().filter((link) => link.checkVisibility())
  const index = matches.indexOf(event.target) + (event.key === 'ArrowDown' ? 1 : -1)
  ;(matches[index] ?? search).focus()
  event.preventDefault()
})

addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input:not([type=radio]), textarea, select')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  menu.open = true
  search.focus()
  search.select()
})

// On a phone, the contents cover the page until a section is chosen.
nav.addEventListener('click', ({ target }) => {
  if (target.closest('nav a')) menu.open = false
})

// Language: the same in all examples, and at the next visit.

const LANGUAGE = 'docs-language'

function selectLanguage(language) {
  for (const input of document.querySelectorAll(`.tabs [value="${language}"]`)) input.checked = true
}

document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs input')) return
  const top = target.getBoundingClientRect().top
  selectLanguage(target.value)
  // The height of the examples above may have changed.
  scrollBy({ top: target.getBoundingClientRect().top - top, behavior: 'instant' })
  try {
    localStorage.setItem(LANGUAGE, target.value)
  } catch {
    // Storage is disabled: the choice is not kept.
  }
})

try {
  selectLanguage(localStorage.getItem(LANGUAGE) ?? 'curl')
} catch {
  // Storage is disabled.
}

// Copying

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]')
  if (!button) return
  const sources = [...button.closest('.code').querySelectorAll('pre')]
  const source = sources.find((pre) => pre.checkVisibility())
  try {
    await navigator.clipboard.writeText(source.textContent)
    button.textContent = 'Copied'
  } catch {
    getSelection().selectAllChildren(source)
    button.textContent = 'Selected'
  }
  setTimeout(() => (button.textContent = 'Copy'), 3000)
})

findCurrent()
highlightCode(document)
