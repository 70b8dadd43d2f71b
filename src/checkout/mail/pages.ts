import type { FastifyPluginAsync } from 'fastify'
import { getLocale } from '../../core/http/locale.js'
import type { Slice } from '../../events/outbox.js'
import { getFormatters } from '../../core/formatting/formatters.js'
import { buildMailView } from './mail-view.js'

const MAIL = { config: { permission: 'mail:manage' } } as const

const EMAIL_URL = '/admin/settings/email'
const MAILS_PER_PAGE = 20

const FILTERS = [
  { state: null, label: 'All', nothing: 'No emails yet.', where: {} },
  {
    state: 'failing',
    label: 'Failing',
    nothing: 'No email waits for another attempt.',
    where: { states: ['pending'], minFailures: 1 },
  },
  {
    state: 'failed',
    label: 'Failed',
    nothing: 'No email has failed.',
    where: { states: ['failed'] },
  },
] as const satisfies readonly { where: Partial<Slice>; [field: string]: unknown }[]

interface Query {
  page?: unknown
  state?: unknown
}

const parsePage = (text: unknown): number =>
  typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1

/** Settings: whether emails are sent, and the log of all emails. */
const pages: FastifyPluginAsync = async (app) => {
  const { mail } = app
  app.settings.addPage({ href: EMAIL_URL, label: 'Email', permission: 'mail:manage' })

  app.get<{ Querystring: Query }>(EMAIL_URL, MAIL, async (request, reply) => {
    const locale = getLocale(request.headers['accept-language'])
    const format = getFormatters(locale, app.config.TIME_ZONE)
    const page = parsePage(request.query.page)
    const filter = FILTERS.find(({ state }) => state === request.query.state) ?? FILTERS[0]
    const { items, total } = await mail.list({
      limit: MAILS_PER_PAGE,
      offset: (page - 1) * MAILS_PER_PAGE,
      ...filter.where,
    })
    const pageCount = Math.max(1, Math.ceil(total / MAILS_PER_PAGE))
    const toUrl = (number: number) =>
      `${EMAIL_URL}?${filter.state === null ? '' : `state=${filter.state}&`}page=${number}`
    return reply.renderSettings(
      { page: 'checkout/email' },
      {
        description: mail.description,
        timeZone: app.config.TIME_ZONE,
        mails: items.map((item) => buildMailView(item, mail.description !== null, format)),
        filters: FILTERS.map(({ label, state }) => ({
          label,
          href: state === null ? EMAIL_URL : `${EMAIL_URL}?state=${state}`,
          isCurrent: state === filter.state,
        })),
        nothing: filter.nothing,
        previous: page > 1 ? toUrl(Math.min(page - 1, pageCount)) : null,
        next: page < pageCount ? toUrl(page + 1) : null,
      },
    )
  })
}

export default pages
