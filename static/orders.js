// The list of orders: its keys, choosing several rows, saved views, and exports that show how
// far they are. All of it by delegation, since the list is swapped again and again.

const rows = () => [...document.querySelectorAll('.row-link')]
const boxes = () => [...document.querySelectorAll('[name=order]')]

// `/` to the search, arrows through the rows, Space to choose one, Escape back.
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const search = document.getElementById('q')
  const typing = event.target.matches('input:not([type=checkbox]), select, textarea')
  const links = rows()
  const at = links.findIndex((link) => link.closest('tr').contains(document.activeElement))
  if (event.key === '/' && !typing) {
    event.preventDefault()
    search?.focus()
    search?.select()
  } else if (event.key === 'Escape' && document.getElementById('keep')) {
    document.getElementById('keep').click()
  } else if (event.key === 'Escape') {
    const open = event.target.closest('details[open]')
    if (open) {
      open.open = false
      open.querySelector('summary').focus()
    } else if (at >= 0) search?.focus()
    else if (event.target === search && search.value === '') links[0]?.focus()
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    if (typing && event.target !== search) return
    const next = links[event.key === 'ArrowDown' ? at + 1 : at - 1]
    if (next) next.focus()
    else if (at === 0) search?.focus()
    else return
    event.preventDefault()
  } else if (event.key === ' ' && event.target.matches('.row-link')) {
    event.preventDefault()
    event.target.closest('tr').querySelector('[name=order]').click()
  }
})

// Back from an order: on from its row. Going to a fragment takes the focus away, so after that.
addEventListener('load', () => {
  if (!location.hash.startsWith('#row-')) return
  const row = document.getElementById(location.hash.slice(1))
  requestAnimationFrame(() => row?.querySelector('.row-link')?.focus())
})

// Choosing rows

const showChosen = () => {
  const chosen = boxes().filter(({ checked }) => checked).length
  const count = document.getElementById('chosen-count')
  if (count) count.textContent = chosen
  const bar = document.querySelector('.several-bar')
  document.documentElement.style.setProperty('--chosen-bar', `${bar?.offsetHeight ?? 0}px`)
  const all = document.getElementById('choose-all')
  if (all) {
    all.checked = chosen > 0 && chosen === boxes().length
    all.indeterminate = chosen > 0 && !all.checked
  }
}

// Another sort or page lists other rows: who is still there stays chosen, and who is not is told.
let chosenBefore = []
const idOf = ({ value }) => value.split(':')[0]

const chooseAgain = () => {
  const ids = new Set(chosenBefore)
  for (const box of boxes()) if (ids.delete(idOf(box))) box.checked = true
  if (ids.size === 0) return
  say(
    ids.size === 1
      ? 'One order that was chosen is not on this page, and is chosen no longer.'
      : `${ids.size} orders that were chosen are not on this page, and are chosen no longer.`,
  )
}

document.addEventListener('change', ({ target }) => {
  if (target.id === 'choose-all') for (const box of boxes()) box.checked = target.checked
  if (target.id === 'choose-all' || target.name === 'order') showChosen()
})
document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  // What a person has ticked stays ticked through a swap: let the fields follow the address,
  // unless nothing came of it and all is to be tried again.
  if (ctx.target?.id === 'orders' && ctx.response?.status < 400) {
    document.getElementById('filters')?.reset()
    document.getElementById('several')?.reset()
  }
  if (ctx.request.method === 'GET') chooseAgain()
  showChosen()
})
showChosen()
addEventListener('resize', showChosen)

// What goes to the server and comes back

// A change that is under way is not given up for another wish, or nobody would see what came of it.
let changing = null
document.addEventListener('htmx:config:request', (event) => {
  if (changing) event.preventDefault()
})
document.addEventListener('htmx:before:request', ({ detail: { ctx } }) => {
  if (ctx.request.method === 'POST') changing = ctx
})

// A year that is still being typed has its first digits only: nothing is listed by those.
document.addEventListener(
  'change',
  (event) => {
    if (event.target.validity.rangeUnderflow) event.stopPropagation()
  },
  { capture: true },
)

// Read before the swap, which may take the id from an element or the element from the page.
let focused = ''
let isPaging = false
document.addEventListener('htmx:before:swap', ({ detail: { ctx } }) => {
  focused = document.activeElement.id
  chosenBefore = boxes()
    .filter(({ checked }) => checked)
    .map(idOf)
  isPaging = /^(page|size)-/.test(ctx.sourceElement.id)
})

/** What leads on from what had the focus and is gone: what came of it, the pages, or the count. */
const nextFocus = () => {
  const wanted =
    {
      keep: '#cancel-chosen',
      'page-next': '.pages [aria-current]',
      'page-previous': '.pages [aria-current]',
    }[focused] ?? '#found'
  return (
    (focused && document.getElementById(focused)) ||
    document.querySelector(wanted) ||
    document.getElementById('found')
  )
}

document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
  if (changing === ctx) changing = null
  if (ctx.status !== 'swapped') return
  const outcome = ctx.request.method === 'POST' && document.getElementById('outcome')
  if (outcome) outcome.focus({ preventScroll: true })
  else if (document.activeElement === document.body) nextFocus()?.focus({ preventScroll: true })
  // Another page is read from its top.
  const list = document.getElementById('list')
  if (isPaging && list?.getBoundingClientRect().top < 0) list.scrollIntoView()
})

// Saved views: names and addresses, in this browser alone.

const KEY = 'clearwake-views'

const savedViews = () => {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '[]').filter(
      ({ name, query }) => typeof name === 'string' && typeof query === 'string',
    )
  } catch {
    return []
  }
}

const keepViews = (views) => {
  localStorage.setItem(KEY, JSON.stringify(views))
  showViews()
}

function showViews() {
  const list = document.getElementById('saved-views')
  if (!list) return
  const items = savedViews().map(({ name, query }) => {
    const item = document.createElement('li')
    const link = document.createElement('a')
    link.href = `/admin/orders${query}`
    link.textContent = name
    if (query === location.search) link.setAttribute('aria-current', 'true')
    const remove = document.createElement('button')
    remove.type = 'button'
    remove.className = 'quiet small'
    remove.textContent = 'Remove'
    remove.setAttribute('aria-label', `Remove view ${name}`)
    remove.addEventListener('click', () => {
      keepViews(savedViews().filter((view) => view.name !== name))
      document.querySelector('#views > summary').focus()
      say(`The view “${name}” is removed.`)
    })
    item.append(link, remove)
    return item
  })
  list.replaceChildren(...items)
}

document.addEventListener('submit', (event) => {
  if (event.target.id !== 'save-view') return
  event.preventDefault()
  const field = document.getElementById('view-name')
  const name = field.value.trim()
  if (!name) return
  const others = () => savedViews().filter((view) => view.name !== name)
  const before = savedViews().find((view) => view.name === name)
  keepViews([...others(), { name, query: location.search }])
  field.value = ''
  if (before === undefined) return say(`The view “${name}” is saved.`)
  const undo = document.createElement('button')
  undo.type = 'button'
  undo.className = 'quiet small'
  undo.textContent = 'Undo'
  undo.addEventListener('click', () => {
    keepViews([...others(), before])
    document.querySelector('#views > summary').focus()
    say(`The view “${name}” is what it was.`)
  })
  say(`There was a view “${name}” already: it now shows this list.`, undo)
})
document.addEventListener('htmx:after:swap', showViews)
showViews()

// Exports. Of more orders than this the browser itself takes the file, straight to the disk.

const MOST_IN_MEMORY = 200_000

const say = (text, ...more) => {
  const message = document.createElement('div')
  message.className = 'message'
  const words = document.createElement('p')
  words.textContent = text
  message.append(words, ...more)
  document.getElementById('messages').replaceChildren(message)
  return { message, words }
}

const sizeOf = (bytes) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

const AGAIN = 'Try again in a moment.'

/** Why the service gave no file, in its own words where it has some. */
const reasonOf = async (answer) => {
  const { detail } = await answer.json().catch(() => ({}))
  return `the service could not make the file. ${detail ?? AGAIN}`
}

async function download(link) {
  const orders = Number(link.dataset.count)
  const stop = document.createElement('button')
  stop.className = 'quiet small'
  stop.textContent = 'Stop'
  const bar = document.createElement('progress')
  const { words } = say('Preparing the export…', bar, stop)
  const leaving = new AbortController()
  stop.addEventListener('click', () => {
    leaving.abort()
    document.getElementById(link.id)?.focus()
  })
  try {
    const answer = await fetch(link.dataset.export, { signal: leaving.signal })
    if (answer.status === 401)
      return location.assign(
        `/admin/login?ended&to=${encodeURIComponent(location.pathname + location.search)}`,
      )
    if (!answer.ok) throw Object.assign(new Error(await reasonOf(answer)), { isAnswer: true })
    const [, name = 'orders'] =
      /filename="([^"]+)"/.exec(answer.headers.get('content-disposition')) ?? []
    const isText = answer.headers.get('content-type').startsWith('text/')
    const parts = []
    let bytes = 0
    let lines = 0
    for (const reader = answer.body.getReader(); ;) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      bytes += value.length
      // A line for each order, save where notes have some of their own.
      if (isText) for (const byte of value) lines += byte === 10
      if (isText && orders > 0) bar.value = Math.min(1, lines / orders)
      words.textContent = `Exporting ${link.dataset.total} orders: ${sizeOf(bytes)}`
    }
    const file = document.createElement('a')
    file.href = URL.createObjectURL(new Blob(parts))
    file.download = name
    file.click()
    setTimeout(() => URL.revokeObjectURL(file.href), 60_000)
    say(`${name} is ready: ${link.dataset.total} orders, ${sizeOf(bytes)}.`)
  } catch (error) {
    if (leaving.signal.aborted) return say('The export was stopped.')
    const { message } = say(
      `The export failed: ${error.isAnswer ? error.message : `the connection broke. ${AGAIN}`}`,
    )
    message.classList.add('failed')
  }
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-export]')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (Number(link.dataset.count) > MOST_IN_MEMORY) {
    say(`Your browser saves the ${link.dataset.total} orders as they come.`)
    return
  }
  event.preventDefault()
  void download(link)
})
