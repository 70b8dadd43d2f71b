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
