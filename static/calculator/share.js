// Buttons below a result: share, copy link, print. A printed sheet shows the calculation.

const LABEL_DURATION_MS = 3000

/** The address of the result, without parameters that have their default. */
const getUrl = ({ dataset }) => new URL(dataset.url, location.href).href

async function copyLink(button) {
  const label = button.textContent
  try {
    await navigator.clipboard.writeText(getUrl(button))
    button.textContent = 'Link copied'
  } catch {
    button.textContent = 'Copy the link from the address bar'
  }
  setTimeout(() => (button.textContent = label), LABEL_DURATION_MS)
}

const ACTIONS = {
  share: (button) =>
    navigator.share({ title: document.title, url: getUrl(button) }).catch(() => {}),
  'copy-link': copyLink,
  print: () => print(),
}

document.documentElement.classList.toggle('can-share', 'share' in navigator)

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('[data-action]')
  if (button) ACTIONS[button.dataset.action]?.(button)
})

const findDetails = () => document.querySelector('.calculation-details')
let wasOpen = false
addEventListener('beforeprint', () => {
  const details = findDetails()
  wasOpen = details?.open ?? false
  if (details) details.open = true
})
addEventListener('afterprint', () => {
  const details = findDetails()
  if (details) details.open = wasOpen
})
