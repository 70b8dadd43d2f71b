// A page that waits for something asks for itself again, shows how far that is, and goes on when
// it is done.

const LOOK_AGAIN_MS = 2_000
const waiting = () => document.querySelector('[data-waiting]')

async function look() {
  try {
    const answer = await fetch(location.href)
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const now = page.querySelector('[data-waiting]')
    if (now) waiting().innerHTML = now.innerHTML
    // What a proxy says of itself is no part of a page.
    else if (answer.headers.has('x-request-id')) location.reload()
  } catch {
    // Without a connection there is nothing to see, and the next look is soon.
  }
  lookAgain()
}

function lookAgain() {
  if (waiting()) setTimeout(() => void look(), LOOK_AGAIN_MS)
}

lookAgain()
