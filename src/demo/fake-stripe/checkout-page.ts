import { formatMoney } from '../../core/formatting/number-formatter.js'
import { fromStripeAmount } from '../../payments/stripe-amount.js'
import type { FakeSession } from './stripe-ledger.js'

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 26rem; margin: 0 auto; padding: 1.25rem; }
  h1 { font-size: 1.5rem; margin: 0.25rem 0 1.25rem; }
  p.note { border: 1px solid; border-radius: 6px; padding: 0.5rem 0.75rem; opacity: 0.8; }
  form { display: grid; gap: 0.75rem; }
  button, a.button { font: inherit; padding: 0.75rem; border-radius: 6px; text-align: center;
    border: 1px solid currentColor; background: none; color: inherit; text-decoration: none; }
  button:first-child { background: #2f4ecb; border-color: #2f4ecb; color: #fff; font-weight: 600; }
`

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const render = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>${title}</title><style>${STYLE}</style></head><body><main>${content}</main></body></html>`

/** Renders the page where a guest pays. */
export function renderCheckoutPage(session: FakeSession): string {
  if (session.status !== 'open') {
    return render(
      'Checkout',
      `<h1>This page has expired</h1><p>It can no longer be used to pay.</p><p><a href="${escapeHtml(session.success_url)}">Back to the shop</a></p>`,
    )
  }
  const { amountMinor, currency } = fromStripeAmount(session.amount_total, session.currency)
  const amount = formatMoney(amountMinor, currency)
  return render(
    'Checkout',
    `<p class="note">Fake Stripe: no money moves, and no card is needed.</p>
    <p>${escapeHtml(session.client_reference_id ?? '')}</p>
    <h1>${escapeHtml(amount)}</h1>
    <form method="post">
      <button name="action" value="pay">Pay ${escapeHtml(amount)}</button>
      <button name="action" value="transfer">Pay by bank transfer, which arrives after 10 seconds</button>
      <button name="action" value="refused">Pay by bank transfer, which the bank refuses</button>
      <a class="button" href="${escapeHtml(session.cancel_url)}">Cancel</a>
    </form>`,
  )
}
