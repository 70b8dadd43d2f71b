import type { FastifyPluginAsync } from 'fastify'
import { getLocale } from '../../http/locale.js'
import type { Mail } from '../../mail/mail.js'
import adminPages from '../../plugins/admin-pages.js'
import { getFormatters } from '../formatters.js'
import { buildMailView } from '../mail-view.js'
import { renderSettings } from './render-settings.js'

const MAIL = { config: { permission: 'mail:manage' } } as const

const EMAIL_URL = '/admin/settings/email'
const MAILS_PER_PAGE = 20

interface Query {
  page?: unknown
  state?: unknown
}

const parsePage = (text: unknown): number =>
  typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1

/** Settings: whether emails are sent, and the log of all emails. */
const pages: FastifyPluginAsync<{ mail: Mail }> = async (app, { mail }) => {
  await app.register(adminPages)

  app.get<{ Querystring: Query }>(EMAIL_URL, MAIL, async (request, reply) => {
    const locale = getLocale(request.headers['accept-language'])
    const format = getFormatters(locale, app.config.TIME_ZONE)
    const page = parsePage(request.query.page)
    const isFailedOnly = request.query.state === 'failed'
    const { items, total } = await mail.list({
      limit: MAILS_PER_PAGE,
      offset: (page - 1) * MAILS_PER_PAGE,
      ...(isFailedOnly ? { states: ['failed'] } : {}),
    })
    const pageCount = Math.max(1, Math.ceil(total / MAILS_PER_PAGE))
    const toUrl = (number: number, failed = isFailedOnly) =>
      `${EMAIL_URL}?${failed ? 'state=failed&' : ''}page=${number}`
    return renderSettings(
      reply,
      { page: 'portal/settings/email' },
      {
        description: mail.description,
        timeZone: app.config.TIME_ZONE,
        mails: items.map((item) => buildMailView(item, mail.description !== null, format)),
        filters: [
          { label: 'All', href: EMAIL_URL, isCurrent: !isFailedOnly },
          { label: 'Failed', href: toUrl(1, true), isCurrent: isFailedOnly },
        ],
        isFailedOnly,
        previous: page > 1 ? toUrl(Math.min(page - 1, pageCount)) : null,
        next: page < pageCount ? toUrl(page + 1) : null,
      },
    )
  })
}

export default pages
