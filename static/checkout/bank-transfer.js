// Copy buttons of the payment details. One listener on the document, because the order page replaces
// its content when it follows the order.
const SHOWN_MS = 3000

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]')
  if (button === null) return
  const [label, field] = button.children
  const status = button.closest('section').querySelector('[data-copy-status]')
  try {
    await navigator.clipboard.writeText(button.dataset.copy)
    label.textContent = 'Copied'
    status.textContent = `${field.textContent} copied`
  } catch {
    // Without access to the clipboard, the value is selected for the guest to copy.
    getSelection().selectAllChildren(button.previousElementSibling)
    label.textContent = 'Selected'
    status.textContent = `${field.textContent} selected`
  }
  setTimeout(() => {
    label.textContent = 'Copy'
    status.textContent = ''
  }, SHOWN_MS)
})
