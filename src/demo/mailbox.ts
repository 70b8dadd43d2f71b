import type { FastifyPluginAsync } from 'fastify'
import { HTML } from '../core/html/views.js'
import { Problem } from '../core/http/problem.js'
import type { MailDelivery, OutgoingMail } from '../mail/smtp-delivery.js'

interface ReceivedMail extends OutgoingMail {
  receivedAt: Date
}

const MAX_MAILS = 200
const FROM = 'Clearwake demo <demo@example.com>'

/** What email clients allow: styles and images, no scripts. */
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'self'; frame-ancestors 'self'"

/** Collects the emails of the demo instead of sending them, and shows them at /demo/mail. */
export function createMailbox() {
  const mails: ReceivedMail[] = []

  const delivery: MailDelivery = {
    description: { server: 'none: the demo shows emails at /demo/mail', from: FROM },
    async send(mail) {
      mails.unshift({ ...mail, receivedAt: new Date() })
      mails.splice(MAX_MAILS)
      return { outcome: 'sent', status: 250, detail: 'Delivered to /demo/mail' }
    },
  }

  const pages: FastifyPluginAsync = async (app) => {
    const times = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'medium',
      timeZone: app.config.TIME_ZONE,
    })
    const toView = ({ id, to, subject, text, receivedAt }: ReceivedMail) => ({
      href: `/demo/mail/${id}`,
      from: FROM,
      to,
      subject,
      text,
      receivedAt: times.format(receivedAt),
    })

    /** Links open in a new tab, as in an email client. */
    const toPreview = ({ html, pictures = [] }: ReceivedMail): string =>
      pictures.reduce(
        (shown, { cid, contentType, content }) =>
          shown.replaceAll(
            `cid:${cid}`,
            `data:${contentType};base64,${content.toString('base64')}`,
          ),
        html
          .replace('<head>', '<head><base target="_blank">')
          .replaceAll('cid:logo', app.brand.logoUrl ?? ''),
      )

    function find(id: string): ReceivedMail {
      const mail = mails.find((one) => one.id === id)
      if (mail === undefined) throw new Problem(404, 'There is no such email.')
      return mail
    }

    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store')
      done()
    })

    app.get('/demo/mail', async (_request, reply) =>
      reply.renderView({ page: 'demo/mailbox' }, { mails: mails.map(toView) }),
    )

    app.get<{ Params: { id: string } }>('/demo/mail/:id', async ({ params }, reply) => {
      const mail = toView(find(params.id))
      const policy = String(reply.getHeader('content-security-policy'))
      reply.header('content-security-policy', `${policy}; frame-src 'self'`)
      return reply.renderView({ page: 'demo/mail' }, { mail })
    })

    app.get<{ Params: { id: string } }>('/demo/mail/:id/html', async ({ params }, reply) =>
      reply
        .headers({ 'content-security-policy': MAIL_POLICY, 'x-frame-options': 'SAMEORIGIN' })
        .type(HTML)
        .send(toPreview(find(params.id))),
    )
  }

  return { delivery, pages }
}
