import { highlightCode } from './highlight.js'

// Sends the request of an operation from the page, with a key that stays in this tab.

const KEY = 'docs-api-key'
const MAX_SHOWN = 20_000

/** Without session storage, the key is kept until the page is left. */
let keyInMemory = ''

function readKey() {
  try {
    return sessionStorage.getItem(KEY) ?? keyInMemory
  } catch {
    return keyInMemory
  }
}

function keepKey(key) {
  keyInMemory = key
  try {
    sessionStorage.setItem(KEY, key)
  } catch {
    // Kept in memory only.
  }
  for (const input of document.querySelectorAll('.try [name=key]')) input.value = key
}

let loading = null
const loadDocument = () => (loading ??= fetch('/openapi.json').then((response) => response.json()))

/** Creates an element with properties and children. */
function create(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

function createField(section, label, control) {
  control.id = `${section.id}-${control.name}`
  return create(
    'div',
    { className: 'field' },
    create('label', { htmlFor: control.id }, label),
    control,
  )
}

const getExample = ({ example, examples = {} }) => example ?? Object.values(examples)[0]?.value

function createForm(section, operation) {
  const { parameters = [], requestBody, security = [] } = operation
  const form = create('form', { className: 'try card' })
  if (security.length > 0) {
    const key = create('input', { name: 'key', type: 'password', value: readKey() })
    key.autocomplete = 'off'
    key.placeholder = 'cwk_…'
    form.append(
      createField(section, 'API key or session token', key),
      create(
        'p',
        { className: 'hint' },
        'Kept in this tab until you close it, and sent to this service only.',
      ),
    )
  }
  for (const { name, in: place, required = false, example = '' } of parameters) {
    const value = place === 'path' ? example : ''
    const input = create('input', { name: `${place}.${name}`, value, required })
    form.append(createField(section, `${name}${required ? '' : ' (optional)'}`, input))
  }
  const media = requestBody?.content['application/json']
  if (media) {
    const value = JSON.stringify(getExample(media) ?? {}, null, 2)
    const rows = Math.min(value.split('\n').length + 1, 18)
    const body = create('textarea', { name: 'body', value, rows, spellcheck: false })
    form.append(createField(section, 'Body', body))
  }
  form.append(
    create('p', { className: 'actions' }, create('button', {}, 'Send request')),
    create('div', { className: 'outcome', role: 'status' }),
  )
  return form
}

/** The key alone, even if it was pasted with the scheme of its header. */
const parseKey = (text) => text.trim().replace(/^bearer\s+/i, '')

/** Builds the arguments of fetch from the form. Throws if a header cannot be sent. */
function buildRequest({ method, path }, form) {
  const headers = new Headers()
  const setHeader = (name, value) => {
    if (/[^\t -~\u00A0-\u00FF]/.test(value)) throw new TypeError(`${name} must be Latin text.`)
    headers.set(name, value)
  }
  const query = new URLSearchParams()
  let address = path
  let body
  for (const [name, value] of new FormData(form)) {
    const [place, ...rest] = name.split('.')
    const parameter = rest.join('.')
    if (name === 'key' && value !== '') setHeader('authorization', `Bearer ${parseKey(value)}`)
    else if (place === 'path')
      address = address.replace(`{${parameter}}`, encodeURIComponent(value))
    else if (value === '') continue
    else if (place === 'query') query.append(parameter, value)
    else if (place === 'header') setHeader(parameter, value)
    else if (name === 'body') {
      body = value
      headers.set('content-type', 'application/json')
    }
  }
  const search = query.size > 0 ? `?${query}` : ''
  // The session cookie is left out, so that only the key authenticates the request.
  return [address + search, { method, headers, body, credentials: 'omit' }]
}

function createCode(title, text) {
  return create(
    'div',
    { className: 'code' },
    create(
      'div',
      { className: 'code-head' },
      create('span', {}, title),
      create('button', { type: 'button' }, 'Copy'),
    ),
    create('pre', { tabIndex: 0 }, create('code', {}, text)),
  )
}

async function describeBody(response) {
  const type = response.headers.get('content-type') ?? ''
  const blob = await response.blob()
  if (blob.size === 0) return create('p', {}, 'No body.')
  if (!/json|text|svg/.test(type)) {
    const disposition = response.headers.get('content-disposition') ?? ''
    const download = /filename="(.+?)"/.exec(disposition)?.[1] ?? 'response'
    return create(
      'p',
      {},
      create('a', { href: URL.createObjectURL(blob), download }, `Save ${download}`),
      ` (${blob.size.toLocaleString('en')} bytes)`,
    )
  }
  const text = await blob.text()
  const isJson = /[/+]json/.test(type)
  const shown = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text
  const end = shown.length > MAX_SHOWN ? '\n…' : ''
  const code = createCode('Body', shown.slice(0, MAX_SHOWN) + end)
  code.querySelector('button').dataset.copy = ''
  return code
}

async function send(section, form) {
  const outcome = form.querySelector('.outcome')
  const button = form.querySelector('.actions button')
  button.disabled = true
  const started = performance.now()
  try {
    const response = await fetch(...buildRequest(section.dataset, form))
    const duration = Math.round(performance.now() - started)
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    const body = await describeBody(response)
    outcome.replaceChildren(
      create(
        'p',
        {},
        create('strong', { className: response.ok ? 'ok' : 'failed' }, `${response.status}`),
        ` ${response.statusText} · ${duration} ms`,
      ),
      body,
      create(
        'details',
        {},
        create('summary', {}, 'Response headers'),
        create('pre', { tabIndex: 0 }, create('code', {}, headers)),
      ),
    )
  } catch (error) {
    const message =
      error instanceof TypeError ? `The request could not be sent: ${error.message}` : `${error}`
    outcome.replaceChildren(create('p', { className: 'error' }, message))
  }
  highlightCode(outcome)
  button.disabled = false
}

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-try]')
  if (!button) return
  const section = button.closest('.operation')
  const open = section.querySelector('.try')
  button.setAttribute('aria-expanded', String(!open))
  if (open) {
    open.remove()
    return
  }
  const { method, path } = section.dataset
  const { paths } = await loadDocument()
  const form = createForm(section, paths[path][method.toLowerCase()])
  button.parentElement.after(form)
  form.querySelector('input, textarea, button').focus()
})

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!form.matches('.try')) return
  event.preventDefault()
  send(form.closest('.operation'), form)
})

document.addEventListener('input', ({ target }) => {
  if (target.matches('.try [name=key]')) keepKey(target.value)
})
