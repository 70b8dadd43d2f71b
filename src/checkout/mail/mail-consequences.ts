import type { CertificateChanges } from '../../certificates/certificate-changes.js'
import {
  countNoun,
  type Consequence,
  type ConsequenceOptions,
  type OrderChange,
} from '../../orders/pages/consequences.js'
import { findMailTypes, type MailType } from './mail-types.js'
import { MAIL_TITLES } from './mail-view.js'
import { isMailOrder } from './message.js'

function findMails(change: OrderChange, certificates: CertificateChanges): MailType[] {
  const { before, after } = change
  if (!isMailOrder(after)) return []
  const wasRefunded = before.status === 'refunded' || before.cancelledFrom === 'refunded'
  const types = findMailTypes(before.status, after.status, wasRefunded)
  const isAnnounced = certificates.isIssued(change) && !certificates.hasOne(before)
  return isAnnounced ? [...types, 'certificate_ready'] : types
}

/** Says when emails are sent, and until when an undo stops them. */
function describeHold(
  holdMs: number,
  isOne: boolean,
  { isRefund }: Pick<ConsequenceOptions, 'isRefund'>,
): string {
  if (holdMs === 0) return isOne ? 'The email is sent at once.' : 'Emails are sent at once.'
  const seconds = holdMs / 1000
  const delay = seconds === 1 ? 'a second' : `${seconds} seconds`
  const isSent = isOne ? 'The email is sent' : 'Emails are sent'
  const rest = isOne ? 'it is not sent' : 'they are not sent'
  return isRefund
    ? `${isSent} after ${delay}.`
    : `${isSent} after ${delay}; undo before then and ${rest}.`
}

const list = new Intl.ListFormat('en')

/**
 * Says which guests changes send emails to.
 *
 * @param holdMs how long the emails wait
 */
export function describeMails(
  changes: readonly OrderChange[],
  certificates: CertificateChanges,
  holdMs: number,
  options: ConsequenceOptions,
): Consequence[] {
  const { isSingle } = options
  const mails = changes.map((change) => ({ change, types: findMails(change, certificates) }))
  const emailed = mails.filter(({ types }) => types.length > 0)
  if (emailed.length === 0) return []
  const guests = new Set(emailed.map(({ change }) => change.after.customerEmail.toLowerCase()))
  const types = [...new Set(mails.flatMap((mail) => mail.types))]
  const titles = list.format(types.map((type) => `“${MAIL_TITLES[type]}”`))
  return [
    {
      clause: `emails ${countNoun(guests.size, 'guest', options)}${isSingle ? ` ${titles}` : ''}`,
      note: describeHold(holdMs, isSingle && types.length === 1, options),
    },
  ]
}
