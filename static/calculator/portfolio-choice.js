// The button that buys credits follows the chosen portfolio, also when the result changes or the
// form is reset.

const STORAGE_KEY = 'portfolio'

let chosenId = null
try {
  chosenId = sessionStorage.getItem(STORAGE_KEY)
} catch {
  // The browser blocks storage.
}

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
  sessionStorage.setItem(STORAGE_KEY, chosenId)
})
document.addEventListener('htmx:after:swap', showChoice)
showChoice()
