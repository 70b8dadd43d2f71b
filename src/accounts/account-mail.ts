import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { getAuditAddress } from '../audit/audit-log.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'
import type { Queryable } from '../database/database.js'
import { MAX_SEND_MS, type MailDelivery, type RenderedMail } from '../mail/smtp-delivery.js'
import { enqueueMessage, type Message } from '../outbox/messages.js'
import type { Sender, SendResult } from '../outbox/outbox.js'
import { getLinkPath, LINK_PURPOSES, type LinkPurpose } from './account-links.js'
import { getBrowserName } from './session-store.js'
import { findUser } from './session.js'

/** What a user is notified of by email. The notices are stored, so never rename one. */
type Notice =
  | 'sign_in.failed'
  | 'sign_in.new_device'
  | 'password.changed'
  | 'second_factor.added'
  | 'second_factor.removed'
  | 'recovery_codes.created'

/** A notice that is waiting to be sent. */
interface NoticePayload {
  email: string
  /** When it happened, ms since 1970 */
  at: number
  /** Who did it: the browser and address of the user, or the email of an owner */
  by: string
}

interface NoticeText {
  title: (brand: string) => string
  text: string
}

const NOTICE_TEXTS: Record<Notice, NoticeText> = {
  'sign_in.failed': {
    title: (brand) => `Failed sign-in to your ${brand} account`,
    text: 'Someone entered a wrong code after your password, or too many wrong passwords. You receive this email at most once a day.',
  },
  'sign_in.new_device': {
    title: (brand) => `New sign-in to your ${brand} account`,
    text: 'Someone signed in to your account with a browser or program that has not been used for it before.',
  },
  'password.changed': {
    title: (brand) => `Your ${brand} password was changed`,
    text: 'Your account has a new password.',
  },
  'second_factor.added': {
    title: (brand) => `New second factor for your ${brand} account`,
    text: 'A passkey or an authenticator app was added to your account.',
  },
  'second_factor.removed': {
    title: (brand) => `Second factor removed from your ${brand} account`,
    text: 'A passkey or an authenticator app was removed from your account.',
  },
  'recovery_codes.created': {
    title: (brand) => `New recovery codes for your ${brand} account`,
    text: 'New recovery codes were created for your account. The previous ones no longer work.',
  },
}

/** What all notices have in common. */
const NOTICE_FRAME = {
  link: 'Open your account',
  footer:
    'If it was not you, change your password, sign out all other devices, and tell an owner of this service.',
}

const isNotice = (type: string): type is Notice => Object.hasOwn(NOTICE_TEXTS, type)

/** The text of an email, apart from the URL of its link. */
interface MailText {
  title: (brand: string) => string
  paragraphs: string[]
  link: string
  footer: string
}

const LINK_TEXTS: Record<LinkPurpose, MailText> = {
  invitation: {
    title: (brand) => `You are invited to ${brand}`,
    paragraphs: [
      'An administrator created an account for this email address. Choose a password to start using it.',
      'The link works once, within 72 hours.',
    ],
    link: 'Choose a password',
    footer: 'If you do not expect this invitation, ignore this email.',
  },
  'password-reset': {
    title: (brand) => `Reset your ${brand} password`,
    paragraphs: [
      'Someone asked to reset the password of your account. If it was you, choose a new password.',
      'The link works once, within 30 minutes.',
    ],
    link: 'Choose a new password',
    footer: 'If it was not you, ignore this email: your password has not changed.',
  },
}

const QUEUE = 'account-mail'

const RETRY_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS]
const CONCURRENCY = 3
/** Time allowed for creating the link and recording the attempt */
const GRACE_MS = 15_000

/** The link is created when the email is sent, so that its token is not stored. */
interface Payload {
  accountId: string
}

type Services = Pick<
  FastifyInstance,
  'accounts' | 'config' | 'mailDelivery' | 'publicBaseUrl' | 'view'
>

/**
 * Queues an email to a user. Emails to the same recipient are sent in order.
 *
 * @param recipient ID or email of the account
 */
const enqueueAccountMail = (
  tx: Queryable,
  recipient: string,
  message: { type: LinkPurpose; payload: Payload } | { type: Notice; payload: NoticePayload },
): Promise<unknown> =>
  enqueueMessage(tx, {
    id: `${isNotice(message.type) ? 'notice' : 'account'}_${randomUUID().replaceAll('-', '')}`,
    queue: QUEUE,
    sequence: `${QUEUE}:${recipient}`,
    orderId: null,
    ...message,
  })

/** Sends emails to users: links to set their password, and notices about their account. */
export function createAccountMail(app: Services) {
  const { mailDelivery: delivery } = app
  const times = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'long',
    timeStyle: 'long',
    timeZone: app.config.TIME_ZONE,
  })

  async function render(
    { title, paragraphs, link, footer }: MailText,
    url: string,
  ): Promise<RenderedMail> {
    const { BRAND_NAME } = app.config
    const heading = title(BRAND_NAME)
    return {
      subject: heading,
      text: `${[heading, ...paragraphs, `${link}:\n${url}`, footer, `-- \n${BRAND_NAME}`].join('\n\n')}\n`,
      html: await app.view('mail/account-mail', {
        title: heading,
        paragraphs,
        link,
        footer,
        url,
        hasLogo: delivery?.hasLogo ?? false,
      }),
    }
  }

  /** What to send for a message; `null` if it is no longer needed. */
  async function prepare({
    type,
    payload,
  }: Message): Promise<{ to: string; text: MailText; path: string } | null> {
    if (isNotice(type)) {
      const { email, at, by } = payload as NoticePayload
      if ((await app.accounts.find(email)) === null) return null
      const { title, text } = NOTICE_TEXTS[type]
      const paragraphs = [text, `${times.format(at)}: ${by}`]
      return { to: email, text: { ...NOTICE_FRAME, title, paragraphs }, path: '/admin/account' }
    }
    const purpose = type as LinkPurpose
    const { accountId } = payload as Payload
    const account = await app.accounts.get(accountId)
    const token = await app.accounts.createLink(accountId, purpose)
    if (account === null || token === null) return null
    return { to: account.email, text: LINK_TEXTS[purpose], path: getLinkPath(purpose, token) }
  }

  async function send(
    mailDelivery: MailDelivery,
    message: Message,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const { id, type, createdAt } = message
    const isLate =
      !isNotice(type) && Date.now() - createdAt > LINK_PURPOSES[type as LinkPurpose].lifetimeMs
    const mail = isLate ? null : await prepare(message)
    if (mail === null) {
      const detail = isLate ? 'Too late: the link would have expired' : 'No longer needed'
      return { outcome: 'cancelled', status: null, detail }
    }
    const content = await render(mail.text, app.publicBaseUrl() + mail.path)
    return mailDelivery.send({ ...content, id, to: mail.to }, signal)
  }

  return {
    isConfigured: delivery !== null,

    /** Queues an email to an account, in the caller's transaction, if emails are configured. */
    async enqueue(tx: Queryable, purpose: LinkPurpose, accountId: string): Promise<void> {
      if (delivery === null) return
      const payload: Payload = { accountId }
      await enqueueAccountMail(tx, accountId, { type: purpose, payload })
    },

    /** `null` if emails are not configured */
    sender:
      delivery &&
      ({
        queuePrefix: QUEUE,
        concurrency: CONCURRENCY,
        leaseMs: MAX_SEND_MS + GRACE_MS,
        retryDelaysMs: RETRY_DELAYS_MS,
        send: (message, signal) => send(delivery, message, signal),
      } satisfies Sender),
  }
}

export type AccountMail = ReturnType<typeof createAccountMail>

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Emails the user of an account about a request, if emails are configured. Never throws: a
     * notice that cannot be queued is logged.
     *
     * @param email of the account
     */
    notifyUser(request: FastifyRequest, email: string, notice: Notice): Promise<void>
  }
}

/** Notices to users about their own accounts. */
export const accountNotices = fp(
  async (app) => {
    /** Whether the user was notified of the same recently. */
    async function isRepeated(email: string, by: string, notice: Notice): Promise<boolean> {
      const limits: Partial<Record<Notice, [key: string, windowMs: number]>> = {
        'sign_in.failed': [app.hashIdentifier('failed', email), DAY_MS],
        // Programs keep no device cookie.
        'sign_in.new_device': [app.hashIdentifier('device', email, by), 30 * DAY_MS],
      }
      const limit = limits[notice]
      if (limit === undefined) return false
      const [key, windowMs] = limit
      return (await app.stateStore.consume(`notice:${key}`, { limit: 1, windowMs })) > 0
    }

    app.decorate('notifyUser', async (request, email, notice) => {
      if (app.mailDelivery === null) return
      const user = findUser(request)?.email ?? email
      const browser = getBrowserName(request.headers['user-agent'] ?? '')
      const by = user === email ? `${browser}, ${getAuditAddress(request) ?? ''}` : user
      const payload: NoticePayload = { email, at: Date.now(), by }
      try {
        if (await isRepeated(email, by, notice)) return
        await enqueueAccountMail(app.database, email, { type: notice, payload })
      } catch (err) {
        request.log.error({ err, notice }, 'the user was not notified')
      }
    })
  },
  { name: 'account-notices', dependencies: ['security', 'mail', 'state-store'] },
)
