import { domainToASCII, domainToUnicode } from 'node:url'
import { Type, type StringOptions } from '@sinclair/typebox'
import { isTextLine, removeInvisible } from './text-rules.js'

/** Excludes characters with a meaning in address lists and in ADMIN_ACCOUNTS. */
const EMAIL = /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,255}$/u

const MISPLACED_DOT = /^\.|\.\.|\.@|@\.|\.$/

/**
 * Whether a string is a single email address without a display name. The domain can be a local one,
 * such as `localhost`.
 */
export const isEmail = (text: string): boolean =>
  EMAIL.test(text) && !MISPLACED_DOT.test(text) && isTextLine(text)

/** What a domain is written with; the parser of domains would also accept `%61` and ports. */
const DOMAIN = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61\u00b7\u30fb\u200c\u200d-]+$/u
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/
const MAX_DOMAIN_LENGTH = 253

const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u

function splitAddress(email: string): { local: string; domain: string } {
  const at = email.lastIndexOf('@')
  return { local: email.slice(0, Math.max(at, 0)), domain: email.slice(at + 1) }
}

/** Whether a domain can receive mail from the internet. */
function isInternetDomain(domain: string): boolean {
  if (!DOMAIN.test(domain)) return false
  const ascii = domainToASCII(domain)
  const labels = ascii.split('.')
  return (
    ascii.length <= MAX_DOMAIN_LENGTH &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    // Such a domain cannot exist (RFC 2606). The address of erased customers has it.
    labels.at(-1) !== 'invalid' &&
    /^(?!\d+$).{2,}$/.test(labels.at(-1) ?? '')
  )
}

/** Whether a string is an email address to which anyone on the internet can send. */
export function isInternetEmail(text: string): boolean {
  const { local, domain } = splitAddress(text)
  return isEmail(text) && !INVISIBLE.test(local) && isInternetDomain(domain)
}

/**
 * The canonical form of an email address: addresses with the same form are the same mailbox. Ignores
 * case, invisible characters and width, and writes the domain in ASCII (`xn--bcher-kva.example` for
 * `bücher.example`). For comparison only: people see what they typed.
 */
export function toMailbox(email: string): string {
  const { local, domain } = splitAddress(email)
  const name = local
    .replace(/\p{Cf}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
  // Some domains need joiners.
  const visible = removeInvisible(domain.replace(/(?![\u200c\u200d])\p{Cf}/gu, ''))
  const host = visible.normalize('NFKC').toLowerCase()
  return `${name}@${domainToASCII(host) || host}`
}

/** Spellings of an email address: as it is, and with the domain in ASCII and in Unicode. */
export function listSpellings(email: string): string[] {
  const mailbox = toMailbox(email)
  if (mailbox === email.toLowerCase() && !mailbox.includes('xn--')) return [email]
  const { local, domain } = splitAddress(mailbox)
  return [...new Set([email, mailbox, `${local}@${domainToUnicode(domain) || domain}`])]
}

/** Schema for the email address of a person. */
export const emailAddress = (options: StringOptions) =>
  Type.String({
    maxLength: 254,
    format: 'email-address',
    'x-remove-invisible': true,
    'x-message': 'must be an email address, such as ann@example.com',
    ...options,
  })

/** Domains of the most common mailboxes, whose names people mistype. */
const COMMON_DOMAINS = [
  ...['gmail.com', 'googlemail.com', 'outlook.com', 'hotmail.com', 'hotmail.co.uk'],
  ...['yahoo.com', 'yahoo.co.uk', 'icloud.com', 'protonmail.com'],
]

/** Real domains that are one edit away from a common one. */
const OTHER_DOMAINS: ReadonlySet<string> = new Set([
  'mail.com',
  'email.com',
  'ymail.com',
  'cloud.com',
])

/** Whether one insertion, removal or replacement, or one swap of neighbours, makes `a` into `b`. */
function isOneEditAway(a: string, b: string): boolean {
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const [restA, restB] = [a.slice(start), b.slice(start)]
  return (
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    restA.slice(1) === restB.slice(1) ||
    (restA.slice(0, 2) === `${restB.charAt(1)}${restB.charAt(0)}` &&
      restA.slice(2) === restB.slice(2))
  )
}

/** The address that was probably meant: ann@gmail.com for ann@gmial.com; `null` if it looks right. */
export function suggestEmail(email: string): string | null {
  const [local = '', domain] = email.trim().split('@')
  const typed = domain?.toLowerCase() ?? ''
  if (local === '' || COMMON_DOMAINS.includes(typed) || OTHER_DOMAINS.has(typed)) return null
  const meant = COMMON_DOMAINS.find((common) => isOneEditAway(typed, common))
  return meant === undefined ? null : `${local}@${meant}`
}
