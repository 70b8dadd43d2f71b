import {
  browserSupportsWebAuthn,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
} from '@simplewebauthn/browser'

// Forms with `data-passkey` ask the browser for a passkey before they are sent.

const MESSAGES = {
  ERROR_CEREMONY_ABORTED: '',
  ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED: 'This device already has a passkey for your account.',
}

const getMessage = ({ code, name }) =>
  MESSAGES[code] ??
  (name === 'NotAllowedError'
    ? 'No passkey was used. Try again.'
    : 'The passkey could not be used. Try again.')

async function fetchOptions(url) {
  const response = await fetch(url, { method: 'POST', headers: { accept: 'application/json' } })
  // The session has expired, or has to be confirmed first.
  if (response.redirected) location.assign(response.url)
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`)
  return response.json()
}

// Without scripts or passkeys, these stay hidden.
if (browserSupportsWebAuthn()) {
  const hidden = 'form[data-passkey][hidden], [data-passkey-only][hidden]'
  for (const element of document.querySelectorAll(hidden)) element.hidden = false
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const error = form.querySelector('[data-passkey-error]')
  form.addEventListener('submit', async (event) => {
    if (form.credential.value !== '') return
    event.preventDefault()
    error.textContent = ''
    WebAuthnAbortService.cancelCeremony()
    try {
      const optionsJSON = await fetchOptions(form.dataset.options)
      const start = form.dataset.passkey === 'register' ? startRegistration : startAuthentication
      form.credential.value = JSON.stringify(await start({ optionsJSON }))
    } catch (failure) {
      error.textContent = getMessage(failure)
      return
    }
    form.submit()
  })
}

// A page that is restored from the history must not send the same credential again.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-passkey]')) form.credential.value = ''
})
