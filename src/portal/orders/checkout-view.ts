import type { Order } from '../../orders/order.js'
import type { Formatters } from '../formatters.js'
import { METHOD_LABELS, ORIGIN_LABELS } from '../labels.js'

interface Row {
  label: string
  value: string
}

const toRow = (label: string, value: string | null): Row[] =>
  value === null ? [] : [{ label, value }]

/** How an order was created, and the guest's choices; empty if unknown. */
export function buildCheckoutRows(
  { origin, checkout, currency }: Order,
  format: Formatters,
): Row[] {
  if (origin === null) return []
  const created = { label: 'Created by', value: ORIGIN_LABELS[origin] }
  if (checkout === null) return [created]
  const { offsetMinor, serviceFeeMinor, sharePercent } = checkout
  return [
    created,
    ...toRow('Payment', METHOD_LABELS[checkout.paymentMethod]),
    ...toRow('Portfolio', checkout.portfolioName),
    ...toRow('Share of the trip', format.percent(sharePercent / 100)),
    ...toRow('Quoted carbon credits', format.money(offsetMinor, currency)),
    ...toRow('Quoted service fee', format.money(serviceFeeMinor, currency)),
    ...toRow('Name on the certificate', checkout.beneficiary),
    ...toRow('Certificate', checkout.isPublic ? 'May be published' : 'Not to be published'),
    ...toRow('Company', checkout.company),
    ...toRow('VAT ID', checkout.vatId),
  ]
}
