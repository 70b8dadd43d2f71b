const LABEL_DURATION_MS = 3000

/**
 * Copies a URL; the label of the button says so for a moment, or what to do instead. Returns what it
 * says.
 */
export async function copyLink(button, url, otherwise = 'Copy the link from the address bar') {
  const label = button.textContent
  try {
    await navigator.clipboard.writeText(new URL(url, location.href).href)
    button.textContent = 'Link copied'
  } catch {
    button.textContent = otherwise
  }
  setTimeout(() => (button.textContent = label), LABEL_DURATION_MS)
  return button.textContent
}
