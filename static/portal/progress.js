// Reloads a page that shows progress until it is complete.

const INTERVAL_MS = 2_000
const getProgress = () => document.querySelector('[data-progress]')

async function update() {
  try {
    const response = await fetch(location.href, { headers: { 'clearwake-background': 'true' } })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const progress = page.querySelector('[data-progress]')
    if (progress) getProgress().innerHTML = progress.innerHTML
    // Error pages of proxies have no request ID.
    else if (response.headers.has('x-request-id')) location.reload()
  } catch {
    // No connection: the next update may succeed.
  }
  schedule()
}

function schedule() {
  if (getProgress()) setTimeout(() => void update(), INTERVAL_MS)
}

schedule()
