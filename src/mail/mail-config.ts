import {
  optional,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import type { Config } from '../core/config/config.js'
import { isLoopback } from '../core/http/client-address.js'
import { isEmail } from '../core/validation/email-address.js'
import { isTextLine } from '../core/validation/text-rules.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  SMTP_URL: optional('Mail server, such as smtps://user:password@smtp.example.com'),
  MAIL_FROM: optional('Sender of emails, such as Harbour Example <offset@example.com>'),
}

/** A mail server, with the credentials for it. */
interface SmtpServer {
  /** Without brackets */
  host: string
  port: number
  /**
   * - `tls`: from the start
   * - `starttls`: required before anything is sent
   * - `none`: only on the loopback address
   */
  encryption: 'tls' | 'starttls' | 'none'
  credentials: { user: string; pass: string } | null
}

interface MailAddress {
  /** Empty for an address without a name */
  name: string
  address: string
}

export interface MailSettings {
  server: SmtpServer
  from: MailAddress
}

const DEFAULT_PORTS = { tls: 465, starttls: 587, none: 587 }

/** Decodes a part of a URL; `null` if it is not valid percent-encoding. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Parses a URL such as `smtps://user:password@smtp.example.com`; `null` if it is invalid. */
function parseSmtpUrl(text: string): SmtpServer | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return null
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return null
  const [user, pass] = [decode(url.username), decode(url.password)]
  if (user === null || pass === null || (user === '') !== (pass === '')) return null
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const encryption = url.protocol === 'smtps:' ? 'tls' : isLoopback(host) ? 'none' : 'starttls'
  return {
    host,
    port: url.port === '' ? DEFAULT_PORTS[encryption] : Number(url.port),
    encryption,
    credentials: user === '' ? null : { user, pass },
  }
}

const NAMED_ADDRESS = /^"?([^<>"]*?)"?\s*<([^<>]+)>$/

/** Parses an address such as `Harbour Example <offset@example.com>`; `null` if it is invalid. */
export function parseMailAddress(text: string): MailAddress | null {
  const [, name = '', address = text] = NAMED_ADDRESS.exec(text) ?? []
  return isEmail(address) && (name === '' || isTextLine(name)) ? { name, address } : null
}

const rules: readonly ConfigRule[] = [
  [
    'SMTP_URL',
    (text) => parseSmtpUrl(text) !== null,
    'must be a URL such as smtps://user:password@smtp.example.com, or smtp:// for STARTTLS; special characters percent-encoded',
  ],
  [
    'MAIL_FROM',
    (text) => parseMailAddress(text) !== null,
    'must be an email address, with or without a name: Harbour Example <offset@example.com>',
  ],
]

function findErrors(environment: NodeJS.ProcessEnv): string[] {
  const { SMTP_URL, MAIL_FROM, PUBLIC_BASE_URL } = environment
  const errors: string[] = []
  if (SMTP_URL === undefined && MAIL_FROM === undefined) return errors
  if (SMTP_URL === undefined) errors.push('SMTP_URL is required with MAIL_FROM')
  if (MAIL_FROM === undefined) errors.push('MAIL_FROM is required with SMTP_URL')
  if (SMTP_URL !== undefined && PUBLIC_BASE_URL === undefined) {
    errors.push('PUBLIC_BASE_URL is required with SMTP_URL: emails contain links')
  }
  return errors
}

/** The email settings, which were validated at start-up; `null` if emails are not configured. */
export function getMailSettings({
  SMTP_URL,
  MAIL_FROM,
  BRAND_NAME,
}: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'BRAND_NAME'>): MailSettings | null {
  const server = SMTP_URL === undefined ? null : parseSmtpUrl(SMTP_URL)
  const from = MAIL_FROM === undefined ? null : parseMailAddress(MAIL_FROM)
  if (server === null || from === null) return null
  return { server, from: { ...from, name: from.name || BRAND_NAME } }
}

/** The mail server. */
export const mailConfig = { variables, rules, findErrors } satisfies ConfigPart
