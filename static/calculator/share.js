// Buttons below a result: share, copy link, print. A printed sheet shows the calculation.

import { copyLink } from '../shared/copy-link.js'

const ACTIONS = {
  share: ({ dataset }) => {
    const url = new URL(dataset.url, location.href).href
    return navigator.share({ title: document.title, url }).catch(() => {})
  },
  'copy-link': (button) => copyLink(button, button.dataset.url),
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
