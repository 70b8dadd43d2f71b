import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { freePort } from './free-port.js'
import { createGuest, placeOrder } from './guest.js'
import { startTwoAdmins } from './page-client.js'
import { startSmtpServer, type ReceivedMail, type TestSmtpServer } from './smtp-server.js'
import { waitFor } from './wait-for.js'

export const MAIL_FROM = 'Harbour Example <offset@harbour.example>'

/** The environment of a service that sends emails to a server and takes orders. */
export async function mailEnvironment({ port }: Pick<TestSmtpServer, 'port'>) {
  const ownPort = String(await freePort())
  return {
    CURRENCY: 'EUR',
    PRICE_PER_TONNE: '24.50',
    SERVICE_FEE_PERCENT: '10',
    PORT: ownPort,
    PUBLIC_BASE_URL: `http://127.0.0.1:${ownPort}`,
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    MAIL_FROM,
  }
}

/** Makes all pending messages due, as if their pauses were over. */
export const skipPauses = (app: FastifyInstance): Promise<unknown> =>
  app.database.query("UPDATE outbox SET next_attempt_at = 0 WHERE state = 'pending'")

/** Starts a mail server, and the service with two administrators. */
export async function startMailService(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const smtp = await startSmtpServer(t)
  const service = await startTwoAdmins(t, { ...(await mailEnvironment(smtp)), ...environment })

  // Both administrators are told that they signed in on a new device.
  await waitFor(async () => smtp.notices.length === 2)
  smtp.attempts.length = 0

  /** Waits for this many emails; returns the latest. */
  async function waitForMails(count: number): Promise<ReceivedMail> {
    await waitFor(async () => smtp.mails.length >= count)
    const latest = smtp.mails.at(-1)
    if (smtp.mails.length > count || latest === undefined) throw new Error('too many emails')
    return latest
  }

  return {
    ...service,
    smtp,
    waitForMails,
    /** Places an order as another guest; returns the path of its page. */
    order: (fields: Record<string, string> = {}) => placeOrder(createGuest(service.url), fields),
    setStatus: (status: string, id = '1') =>
      service.ann.call('PATCH', `/api/admin/orders/${id}`, { status }),
    /** States of all emails, the oldest first */
    getStates: async () => {
      const rows = await service.app.database.query<{ state: string }>(
        "SELECT state FROM outbox WHERE queue = 'mail' ORDER BY position",
      )
      return rows.map(({ state }) => state)
    },
  }
}
