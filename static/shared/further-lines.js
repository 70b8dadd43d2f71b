// Further lines of a trip: adds a blank line as soon as something is typed in the last one, and fills
// in what a choice implies.

const MAX_FURTHER_LINES = 6

document.addEventListener('input', ({ target }) => {
  const line = target.closest('.further-line[data-line]:last-child')
  if (!line || target.matches('select')) return
  const indexes = [...line.parentElement.querySelectorAll('[data-line]')].map(({ dataset }) =>
    Number(dataset.line),
  )
  const index = Math.max(...indexes) + 1
  if (index >= MAX_FURTHER_LINES) return
  const next = line.outerHTML
    .replaceAll(/furtherLines([.-])\d+/g, `furtherLines$1${index}`)
    .replace(/data-line="\d+"/, `data-line="${index}"`)
    .replace(' open=""', '')
  line.insertAdjacentHTML('afterend', next)
})

function setValue(field, value) {
  field.value = value
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

document.addEventListener('change', ({ target }) => {
  const line = target.closest('.fuel-line')
  const fuelType = line?.querySelector('select[name$="fuelType"]')
  if (!fuelType) return
  if (target.value === 'shore-power') setValue(fuelType, 'electricity')
  // FAME needs the certified value.
  if (fuelType.value === 'fame') line.querySelector('.blend-fields').open = true
})

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('[data-grid-factor]')
  if (!button) return
  const fields = button.closest('.electricity-fields')
  setValue(fields.querySelector('[name$="factorSource"]'), button.dataset.gridSource)
  setValue(fields.querySelector('[name$="kgCo2ePerKwh"]'), button.dataset.gridFactor)
})
