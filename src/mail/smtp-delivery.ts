import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { createTransport, type NodemailerError, type SMTPTransportOptions } from 'nodemailer'
import { LOGO_TYPES } from '../core/config/core-config.js'
import type { SendResult } from '../outbox/outbox.js'
import type { MailSettings } from './mail-config.js'

/** A picture that is sent with an email. */
export interface MailPicture {
  /** The HTML shows it at the URL `cid:{cid}` */
  cid: string
  filename: string
  contentType: string
  content: Buffer
}

/** The content of an email. */
export interface RenderedMail {
  /** Must not contain user input */
  subject: string
  text: string
  /** The operator's logo, if there is one, has the URL `cid:logo` */
  html: string
  /** Other pictures of the HTML */
  pictures?: readonly MailPicture[]
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

const STEP_TIMEOUT_MS = 20_000

const MAX_DETAIL_LENGTH = 300

const toDetail = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, MAX_DETAIL_LENGTH)

const DESCRIPTIONS: Partial<Record<string, string>> = {
  EABORT: 'The mail server took too long.',
  ETIMEDOUT: 'The mail server did not respond in time.',
  EDNS: 'The name of the mail server was not found.',
  ECONNECTION: 'The mail server closed the connection.',
}

/** Describes an error without secrets, because a server may repeat a password that it rejects. */
const describeError = ({ code = '', response, message }: NodemailerError): string =>
  code === 'EAUTH'
    ? 'The mail server did not accept the user name and password.'
    : toDetail(response ?? DESCRIPTIONS[code] ?? message)

/** An error of these commands concerns the email; any other concerns the server. */
const MAIL_COMMANDS: readonly (string | undefined)[] = ['RCPT TO', 'DATA']

function toFailure(error: NodemailerError): MailResult {
  const { command, permanent = false, responseCode = null } = error
  const isOutage = !MAIL_COMMANDS.includes(command)
  return {
    outcome: permanent && !isOutage ? 'rejected' : 'retry',
    isOutage,
    status: responseCode,
    detail: describeError(error),
  }
}

/** Sends emails over SMTP, each over its own connection, because there are few. */
export function createSmtpDelivery(
  { server, from }: MailSettings,
  logo: MailPicture | null,
): MailDelivery {
  const { host, port, encryption, credentials } = server
  const [, domain = host] = from.address.split('@')
  const options: SMTPTransportOptions = {
    host,
    port,
    secure: encryption === 'tls',
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    tls: { rejectUnauthorized: true },
    ...(credentials && { auth: credentials }),
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  const transport = createTransport(options)
  return {
    description: { server: `${host}:${port}`, from: `${from.name} <${from.address}>` },
    async send({ id, to, subject, text, html, pictures = [] }, signal) {
      try {
        const { response } = await transport.sendMail({
          // Passed as objects, which are not parsed, so that one address cannot become two.
          from,
          to: { name: '', address: to },
          envelope: { from: { ...from, name: '' }, to: [{ name: '', address: to }] },
          subject,
          text,
          html,
          messageId: `<${id}@${domain}>`,
          // Suppresses automatic replies (RFC 3834).
          headers: { 'Auto-Submitted': 'auto-generated' },
          attachments: [...(logo ? [logo] : []), ...pictures].map((picture) => ({
            ...picture,
            contentDisposition: 'inline',
          })),
          signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_SEND_MS)]),
        })
        return { outcome: 'sent', status: Number(response.slice(0, 3)), detail: toDetail(response) }
      } catch (error) {
        return toFailure(error as NodemailerError)
      }
    },
  }
}

/** Reads the operator's logo, attached to each email; `null` if there is none, or if it is an SVG, which few email clients display. */
export function readMailLogo(path: string | undefined): MailPicture | null {
  const extension = extname(path ?? '').toLowerCase()
  const contentType = LOGO_TYPES[extension]
  if (path === undefined || contentType === undefined || extension === '.svg') return null
  return { cid: 'logo', filename: `logo${extension}`, contentType, content: readFileSync(path) }
}
