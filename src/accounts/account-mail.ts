import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Queryable } from '../database/database.js'
import { MAX_SEND_MS, type MailDelivery, type RenderedMail } from '../mail/mail-delivery.js'
import { enqueueMessage, type Message } from '../events/outbox.js'
import type { Sender, SendResult } from '../events/outbox-worker.js'
import { isNotice, NOTICE_TEXTS, type Notice, type NoticePayload } from './notices.js'
import { getLinkPath, LINK_PURPOSES, type LinkPurpose } from './account-links.js'
import { HOUR_MS, MINUTE_MS } from '../core/time.js'

const QUEUE = 'account-mail'

const RETRY_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS]
const CONCURRENCY = 3
/** Time allowed for creating the link and recording the attempt */
const GRACE_MS = 15_000

/** The link is created when the email is sent, so that its token is not stored. */
interface Payload {
  accountId: string
}

interface Text {
  title: (brand: string) => string
  paragraphs: string[]
  link: string
  footer: string
}

const LINK_TEXTS: Record<LinkPurpose, Text> = {
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

type Services = Pick<
  FastifyInstance,
  'accounts' | 'config' | 'mailDelivery' | 'publicBaseUrl' | 'view'
>

/**
 * Queues an email to a user. Emails to the same recipient are sent in order.
 *
 * @param recipient ID or email of the account
 */
export const enqueueAccountMail = (
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
    { title, paragraphs, link, footer }: Text,
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

  /** Cancels a notice if the account no longer exists. */
  async function sendNotice(
    mailDelivery: MailDelivery,
    { id, payload }: Message,
    notice: Notice,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const { email, at, by } = payload as NoticePayload
    if ((await app.accounts.find(email)) === null) {
      return { outcome: 'cancelled', status: null, detail: 'No longer needed' }
    }
    const { title, text } = NOTICE_TEXTS[notice]
    const content = await render(
      {
        title,
        paragraphs: [text, `${times.format(at)}: ${by}`],
        link: 'Open your account',
        footer:
          'If it was not you, change your password, sign out all other devices, and tell an owner of this service.',
      },
      `${app.publicBaseUrl()}/admin/account`,
    )
    return mailDelivery.send({ ...content, id, to: email }, signal)
  }

  async function send(
    mailDelivery: MailDelivery,
    message: Message,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const { id, type, payload, createdAt } = message
    if (isNotice(type)) return sendNotice(mailDelivery, message, type, signal)
    const purpose = type as LinkPurpose
    const { accountId } = payload as Payload
    const account = await app.accounts.get(accountId)
    const isLate = Date.now() - createdAt > LINK_PURPOSES[purpose].lifetimeMs
    const token = isLate ? null : await app.accounts.createLink(accountId, purpose)
    if (account === null || token === null) {
      const detail = isLate ? 'Too late: the link would have expired' : 'No longer needed'
      return { outcome: 'cancelled', status: null, detail }
    }
    const url = app.publicBaseUrl() + getLinkPath(purpose, token)
    const content = await render(LINK_TEXTS[purpose], url)
    return mailDelivery.send({ ...content, id, to: account.email }, signal)
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
