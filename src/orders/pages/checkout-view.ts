import type { Formatters } from '../../core/formatting/formatters.js'
import { METHOD_LABELS, ORIGIN_LABELS } from '../labels.js'
import { describeShare } from '../order-trip.js'
import type { Order } from '../order.js'

interface Row {
  label: string
  value: string
}

const toRow = (label: string, value: string | null): Row[] =>
  value === null ? [] : [{ label, value }]

/** How an order was created, and the guest's choices; empty if unknown. */
export function buildCheckoutRows(
  { origin, checkout, currency, calculatorData }: Order,
  format: Formatters,
): Row[] {
  if (origin === null) return []
  const created = { label: 'Created by', value: ORIGIN_LABELS[origin] }
  if (checkout === null) return [created]
  const { offsetMinor, serviceFeeMinor } = checkout
  const quotedIn = checkout.currency ?? currency
  return [
    created,
    ...toRow('Payment', METHOD_LABELS[checkout.paymentMethod]),
    ...toRow('Portfolio', checkout.portfolioName),
    ...toRow('Share', describeShare(checkout, calculatorData?.guests, format.numbers)),
    ...toRow('Quoted credits', format.money(offsetMinor, quotedIn)),
    ...toRow('Quoted service fee', format.money(serviceFeeMinor, quotedIn)),
    ...toRow('Name on the certificate', checkout.beneficiary),
    ...toRow('Certificate', checkout.isPublic ? 'May be published' : 'Not to be published'),
    ...toRow('Company', checkout.company),
    ...toRow('VAT ID', checkout.vatId),
  ]
}
