import type { SendResult } from '../outbox/outbox.js'

/** The content of an email. */
export interface RenderedMail {
  /** Must not contain user input */
  subject: string
  text: string
  /** Its logo, if there is one, has the URL `cid:logo` */
  html: string
}

/** An email to one address. */
export interface OutgoingMail extends RenderedMail {
  /** The same for each attempt to send the email; consists of letters, digits, `_` and `.` */
  id: string
  to: string
}

export interface MailResult extends SendResult {
  /** Whether the cause is the mail server or its configuration, so that no email can be sent */
  isOutage?: boolean
}

/** Sends emails: over SMTP, or to the mailbox of the demo. */
export interface MailDelivery {
  /** The mail server and the sender address, to show to administrators */
  description: { server: string; from: string }
  /** Sends an email once, within MAX_SEND_MS. Never throws. */
  send: (mail: OutgoingMail, signal: AbortSignal) => Promise<MailResult>
}

export const MAX_SEND_MS = 60_000
