import { randomBytes } from 'node:crypto'
import { Type, type Static } from '@sinclair/typebox'
import type { Signer } from '../core/config/secrets.js'
import { toTrimmedText } from '../core/validation/text-rules.js'
import { Checkout } from '../orders/order-checkout.js'
import { NewOrder } from '../orders/order.js'
import { findShareErrors, MAX_PERCENT, WHOLE_TRIP, type Share } from '../orders/share.js'
import { checker } from '../orders/validators.js'
import { hashTrip, type OrderedTrip } from './ordered-trip.js'

/** What a guest types into the order form. */
const Details = Type.Object({
  name: NewOrder.properties.customerName,
  email: NewOrder.properties.customerEmail,
  company: Checkout.properties.company,
  vatId: Checkout.properties.vatId,
  beneficiary: Checkout.properties.beneficiary,
})
type Details = Static<typeof Details>

export type OrderFormField = keyof Details | 'consent' | 'portfolioId' | 'share'

/** What a guest can pay for: the whole trip, the part of some guests, or another percentage. */
export type ShareKind = 'whole' | 'guests' | 'percent'

/** The chosen kind of share, and the numbers as typed. */
interface ShareChoice {
  kind: ShareKind
  guests: string
  percent: string
}

/** An order form, as submitted. */
export interface OrderForm {
  values: Record<keyof Details, string>
  isPublic: boolean
  hasConsent: boolean
  portfolioId: number | null
  shareChoice: ShareChoice
  /** `null` if it is invalid */
  share: Share | null
  errors: Partial<Record<OrderFormField, string>>
  /** `null` if there are errors */
  details: Details | null
}

const check = checker(Details)

const MISSING: Partial<Record<string, string>> = {
  name: 'Enter your name',
  email: 'Enter your email address',
}

const toPortfolioId = (value: unknown): number | null =>
  /^\d{1,15}$/.test(toTrimmedText(value)) ? Number(toTrimmedText(value)) : null

const toCount = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0)

/**
 * Reads the share in links and other forms, which have the documented fields, or the choice in our
 * own form, which always submits both of its numbers.
 */
function readShareChoice(submitted: Record<string, unknown>): ShareChoice {
  const [sharePercent, forGuests] = [
    toTrimmedText(submitted.sharePercent),
    toTrimmedText(submitted.forGuests),
  ]
  if (forGuests !== '') return { kind: 'guests', guests: forGuests, percent: sharePercent }
  if (sharePercent !== '') {
    const kind = toCount(sharePercent) === WHOLE_TRIP.sharePercent ? 'whole' : 'percent'
    return { kind, guests: '', percent: sharePercent }
  }
  const kind = toTrimmedText(submitted.share)
  return {
    kind: kind === 'guests' || kind === 'percent' ? kind : 'whole',
    guests: toTrimmedText(submitted.partGuests),
    percent: toTrimmedText(submitted.otherPercent),
  }
}

/**
 * Why a share cannot be ordered; `null` if it can.
 *
 * @param sharePercent as submitted: a link can have it as well as a number of guests
 * @param guests on board, if known
 */
function findShareError(
  kind: 'guests' | 'percent',
  number: number,
  sharePercent: string,
  guests: number | undefined,
): string | null {
  const maximum = kind === 'guests' ? guests : MAX_PERCENT
  if (maximum !== undefined && (number < 1 || number > maximum)) {
    return kind === 'guests'
      ? `Enter a number of guests from 1 to ${maximum}`
      : `Enter a whole percentage from 1 to ${maximum}`
  }
  if (kind === 'percent') return null
  const fields = { sharePercent: sharePercent || null, forGuests: number }
  return findShareErrors(fields, guests)[0]?.message ?? null
}

/** @param guests on board, if known */
function parseShare(
  submitted: Record<string, unknown>,
  guests: number | undefined,
): Pick<OrderForm, 'shareChoice' | 'share'> & { error: string | null } {
  const shareChoice = readShareChoice(submitted)
  const { kind } = shareChoice
  if (kind === 'whole') return { shareChoice, share: WHOLE_TRIP, error: null }
  const number = toCount(shareChoice[kind])
  const share: Share =
    kind === 'guests'
      ? { sharePercent: null, forGuests: number }
      : { sharePercent: number, forGuests: null }
  const error = findShareError(kind, number, toTrimmedText(submitted.sharePercent), guests)
  return { shareChoice, share: error === null ? share : null, error }
}

interface FormRules {
  /** Whether there are terms that a guest must agree to */
  needsConsent: boolean
  /** Guests on board, if known */
  guests: number | undefined
}

/** The name on the certificate; empty if none was given yet. */
export const getCertificateName = ({ values }: Pick<OrderForm, 'values'>): string =>
  values.beneficiary || values.name

/** Parses a submitted form, or the parameters of a link to it. Pure. */
export function parseOrderForm(
  submitted: Record<string, unknown>,
  { needsConsent, guests }: FormRules,
): OrderForm {
  const values = {
    name: toTrimmedText(submitted.name),
    email: toTrimmedText(submitted.email),
    company: toTrimmedText(submitted.company),
    vatId: toTrimmedText(submitted.vatId),
    beneficiary: toTrimmedText(submitted.beneficiary),
  }
  const hasConsent = submitted.consent === 'yes'
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
  const { shareChoice, share, error: shareError } = parseShare(submitted, guests)
  if (shareError !== null) errors.share = shareError
  if (needsConsent && !hasConsent) errors.consent = 'Agree to the terms to place the order'
  return {
    values,
    isPublic: submitted.isPublic === 'yes',
    hasConsent,
    portfolioId: toPortfolioId(submitted.portfolioId),
    shareChoice,
    share,
    errors,
    details: checked.ok && Object.keys(errors).length === 0 ? checked.value : null,
  }
}

const ID_BYTES = 16
const FORMAT = /^([\w-]{22})\.([0-9a-z]{1,12})\.([\w-]{22})$/

/** Must be less than IDEMPOTENCY_KEY_TTL_MS. */
const VALID_MS = 24 * 60 * 60 * 1000

export const createFormId = (): string => randomBytes(ID_BYTES).toString('base64url')

/** Whether a string has the format of a form's ID. */
export const isFormId = (text: string | undefined): text is string => /^[\w-]{22}$/.test(text ?? '')

/**
 * Signs the hidden field that limits an order form to one order, for one trip. The tokens are valid
 * for a day.
 */
export function createFormTokens(signer: Signer) {
  const toText = (id: string, time: string, trip: OrderedTrip): string =>
    [id, time, hashTrip(trip)].join('\n')
  return {
    /** Creates the token for the form with the given ID. */
    create(id: string, trip: OrderedTrip): string {
      const time = Date.now().toString(36)
      return `${id}.${time}.${signer.sign(toText(id, time, trip))}`
    },
    /** Returns the ID in a token; `null` if it is not valid for this trip. */
    read(token: string, trip: OrderedTrip): string | null {
      const [, id = '', time = '', signature = ''] = FORMAT.exec(token) ?? []
      const isValid =
        signer.verify(toText(id, time, trip), signature) &&
        Date.now() - parseInt(time, 36) < VALID_MS
      return isValid ? id : null
    },
  }
}
