// The button that buys credits follows the chosen portfolio, also when the result changes.

let chosenId = null

function showChoice() {
  const link = document.getElementById('checkout')
  const choices = [...document.querySelectorAll('#offers [name=portfolio]')]
  const chosen = choices.find(({ value }) => value === chosenId) ?? choices[0]
  if (!link || !chosen) return
  chosen.checked = true
  link.href = chosen.dataset.url
  link.textContent = chosen.dataset.label
}

document.addEventListener('change', ({ target }) => {
  if (!target.matches('#offers [name=portfolio]')) return
  chosenId = target.value
  showChoice()
})
document.addEventListener('htmx:after:swap', showChoice)
showChoice()
