// The button that shares a certificate, or copies its address where browsers cannot share.

import { copyLink } from '../shared/copy-link.js'

/** Shares a certificate. Returns what happened, for screen readers. */
async function shareCertificate(button) {
  const { share: path } = button.dataset
  if (!navigator.share) {
    return copyLink(button, path, 'Copy the link of the certificate’s page')
  }
  const url = new URL(path, location.href).href
  // Rejected if the person closes the dialog.
  await navigator.share({ title: 'Carbon credit retirement certificate', url }).catch(() => {})
  return ''
}

document.addEventListener('click', async ({ target }) => {
  if (!target.matches('[data-share]')) return
  document.getElementById('share-result').textContent = await shareCertificate(target)
})
