import { Type, type Static } from '@sinclair/typebox'
import { Checkout, SHARES, type Share } from '../orders/checkout.js'
import { NewOrder } from '../orders/order.js'
import { checker } from '../orders/validators.js'

/** What a guest types into the order form. */
const Details = Type.Object({
  name: NewOrder.properties.customerName,
  email: NewOrder.properties.customerEmail,
  company: Checkout.properties.company,
  vatId: Checkout.properties.vatId,
  beneficiary: Checkout.properties.beneficiary,
})
type Details = Static<typeof Details>

export type OrderFormField = keyof Details | 'consent' | 'portfolioId'

/** An order form, as submitted. */
export interface OrderForm {
  values: Record<keyof Details, string>
  isPublic: boolean
  hasConsent: boolean
  portfolioId: number | null
  sharePercent: Share
  errors: Partial<Record<OrderFormField, string>>
  /** `null` if there are errors */
  details: Details | null
}

const check = checker(Details)

const MISSING: Partial<Record<string, string>> = {
  name: 'Enter your name',
  email: 'Enter your email address',
}

export const toText = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

const toPortfolioId = (value: unknown): number | null =>
  /^\d{1,15}$/.test(toText(value)) ? Number(toText(value)) : null

const toShare = (value: unknown): Share =>
  SHARES.find((share) => String(share) === toText(value)) ?? SHARES[0]

/** The name on the certificate; empty if none was given yet. */
export const getCertificateName = ({ values }: Pick<OrderForm, 'values'>): string =>
  values.beneficiary || values.name

/** @param needsConsent whether there are terms that a guest must agree to */
export function parseOrderForm(
  submitted: Record<string, unknown>,
  needsConsent: boolean,
): OrderForm {
  const values = {
    name: toText(submitted.name),
    email: toText(submitted.email),
    company: toText(submitted.company),
    vatId: toText(submitted.vatId),
    beneficiary: toText(submitted.beneficiary),
  }
  const hasConsent = submitted.consent !== undefined
  const checked = check({
    ...values,
    company: values.company || null,
    vatId: values.vatId || null,
    beneficiary: values.beneficiary || values.name,
  })
  const errors: OrderForm['errors'] = {}
  for (const { path, message } of checked.ok ? [] : checked.errors) {
    const field = path as keyof Details
    // An empty beneficiary defaults to the name, which has its own error.
    if (field === 'beneficiary' && values.beneficiary === '') continue
    errors[field] = values[field] === '' ? (MISSING[field] ?? message) : message
  }
  if (needsConsent && !hasConsent) errors.consent = 'Agree to the terms to place the order'
  return {
    values,
    isPublic: submitted.isPublic !== undefined,
    hasConsent,
    portfolioId: toPortfolioId(submitted.portfolioId),
    sharePercent: toShare(submitted.sharePercent),
    errors,
    details: checked.ok && Object.keys(errors).length === 0 ? checked.value : null,
  }
}
