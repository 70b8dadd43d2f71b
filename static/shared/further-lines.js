// Adds a blank line to a trip as soon as something is typed in the last one.

const MAX_FURTHER_LINES = 6

document.addEventListener('input', ({ target }) => {
  const line = target.closest('.further-lines > .fuel-line')
  if (!line || target.matches('select') || line.nextElementSibling?.matches('.fuel-line')) return
  const index = Number(line.dataset.line)
  if (index + 1 >= MAX_FURTHER_LINES) return
  const next = line.outerHTML
    .replaceAll(/furtherLines([.-])\d+/g, `furtherLines$1${index + 1}`)
    .replace(/data-line="\d+"/, `data-line="${index + 1}"`)
    .replace(`Line ${index + 2}`, `Line ${index + 3}`)
  line.insertAdjacentHTML('afterend', next)
})
