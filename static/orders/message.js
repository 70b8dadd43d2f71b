/** Replaces the message of the page; returns its elements. */
export function showMessage(text, ...children) {
  const message = document.createElement('div')
  message.className = 'message'
  const paragraph = document.createElement('p')
  paragraph.textContent = text
  message.append(paragraph, ...children)
  document.getElementById('messages').replaceChildren(message)
  return { message, paragraph }
}

export function createButton(label, onClick) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'secondary small'
  button.textContent = label
  button.addEventListener('click', onClick)
  return button
}
