// The button that shares a certificate, or copies its address where browsers cannot share.

const MESSAGE_DURATION_MS = 4000

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('[data-share]')
  if (!button) return
  const { share: url } = button.dataset
  if (navigator.share) {
    // Rejected if the person closes the dialog.
    await navigator.share({ title: document.title, url }).catch(() => {})
    return
  }
  const message = document.querySelector('#share-message')
  try {
    await navigator.clipboard.writeText(url)
    message.textContent = 'Link copied'
  } catch {
    message.textContent = 'Copy the link from the address bar'
  }
  setTimeout(() => (message.textContent = ''), MESSAGE_DURATION_MS)
})
