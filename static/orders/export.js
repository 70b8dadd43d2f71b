// Exports with progress. Large ones are left to the browser, which writes them to disk directly.

import { createButton, showMessage } from './message.js'

const MAX_ORDERS_IN_MEMORY = 200_000
const REVOKE_DELAY_MS = 60_000
const RETRY_ADVICE = 'Try again in a few seconds.'

const formatBytes = (bytes) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

class ExportError extends Error {}

async function readError(response) {
  const { detail } = await response.json().catch(() => ({}))
  return new ExportError(detail ?? RETRY_ADVICE)
}

/** Reads a response; calls `onProgress` with the bytes and lines so far. */
async function readParts(response, onProgress) {
  const parts = []
  let bytes = 0
  let lines = 0
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read()
    if (done) return { parts, bytes }
    parts.push(value)
    bytes += value.length
    for (const byte of value) lines += byte === 10
    onProgress({ bytes, lines })
  }
}

function saveFile(parts, name) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(parts))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_DELAY_MS)
}

async function download(link) {
  const { total } = link.dataset
  const count = Number(link.dataset.count)
  const controller = new AbortController()
  const stop = createButton('Stop', () => {
    controller.abort()
    document.getElementById(link.id)?.focus()
  })
  const progress = document.createElement('progress')
  const { paragraph } = showMessage('Preparing the export…', progress, stop)
  try {
    const response = await fetch(link.dataset.export, { signal: controller.signal })
    const returnTo = encodeURIComponent(location.pathname + location.search)
    if (response.status === 401) return location.assign(`/admin/login?ended&returnTo=${returnTo}`)
    if (response.status === 403) return location.assign(`/admin/confirm?returnTo=${returnTo}`)
    if (!response.ok) throw await readError(response)
    const [, name = 'orders'] =
      /filename="([^"]+)"/.exec(response.headers.get('content-disposition')) ?? []
    // A file has about one line per order.
    const hasLines = response.headers.get('content-type').startsWith('text/')
    const { parts, bytes } = await readParts(response, ({ bytes, lines }) => {
      if (hasLines && count > 0) progress.value = Math.min(1, lines / count)
      paragraph.textContent = `Exporting ${total} orders: ${formatBytes(bytes)}`
    })
    saveFile(parts, name)
    showMessage(`${name} is ready: ${total} orders, ${formatBytes(bytes)}.`)
  } catch (error) {
    if (controller.signal.aborted) return showMessage('The export was stopped.')
    const reason =
      error instanceof ExportError ? error.message : `The connection was lost. ${RETRY_ADVICE}`
    showMessage(`The export failed. ${reason}`).message.classList.add('failed')
  }
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-export]')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (Number(link.dataset.count) > MAX_ORDERS_IN_MEMORY) {
    showMessage(`Your browser is downloading the ${link.dataset.total} orders.`)
    return
  }
  event.preventDefault()
  void download(link)
})
