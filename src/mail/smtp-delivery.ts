import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { createTransport, type NodemailerError, type SMTPTransportOptions } from 'nodemailer'
import { LOGO_TYPES } from '../core/config/core-config.js'
import type { MailSettings } from './mail-config.js'
import {
  MAX_SEND_MS,
  type MailDelivery,
  type MailPicture,
  type MailResult,
} from './mail-delivery.js'

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
