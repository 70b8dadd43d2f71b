import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Permission } from '../accounts/permissions.js'
import { getFormatters } from '../core/formatting/portal-formatters.js'
import { getLocale } from '../core/http/locale.js'
import { createUnexpectedProblem, logError, Problem } from '../core/http/problem.js'
import type { StatsPeriod } from '../orders/dashboard-stats.js'
import { EVENT_QUEUE } from '../orders/order-events/event-dispatcher.js'
import { UNSENT_STATES } from '../outbox/messages.js'
import { countMessages } from '../outbox/read-messages.js'
import { buildWebhookAlerts } from '../webhooks/webhook-view.js'
import { buildDashboardView } from './dashboard-view.js'
import {
  buildRangeChoices,
  buildRangeUrl,
  isReversed,
  parsePeriod,
  type RangeQuery,
} from './period.js'

const STATS = { config: { permission: 'stats:read' } } as const

const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, webhooks, mail, conversions, payments, certificates } = app
  const hasProvider = app.fulfilment !== null

  /** The content below the range buttons: cards and charts, an empty state or an error. */
  async function buildContent(request: FastifyRequest, period: StatsPeriod) {
    try {
      const locale = getLocale(request.headers['accept-language'])
      const dashboard = await buildDashboardView(store, period, {
        locale,
        mainCurrency: app.config.CURRENCY,
        now: Date.now(),
        hasProvider,
        conversions,
        paymentProblems: (await payments.store.findOrderIds(['problem'])).length,
        uncertified: await certificates.listFailed(),
      })
      const format = getFormatters(locale, app.config.TIME_ZONE)
      return {
        statusCode: 200,
        part: dashboard === null ? '_empty' : '_figures',
        dashboard,
        webhookAlerts: buildWebhookAlerts(await webhooks.list(), format),
        failedMails: await mail.countRecentFailures(),
        unprocessedEvents: await countMessages(app.database, EVENT_QUEUE, {
          states: UNSENT_STATES,
        }),
      }
    } catch (error) {
      logError(error, request)
      const { statusCode, message, members } =
        error instanceof Problem ? error : createUnexpectedProblem()
      return {
        statusCode,
        progress: members.progress,
        part: '_error',
        message,
        retryUrl: buildRangeUrl(period),
        requestId: request.id,
      }
    }
  }

  app.get<{ Querystring: RangeQuery }>('/admin', STATS, async (request, reply) => {
    const period = parsePeriod(request.query)
    const ranges = buildRangeChoices(period)
    const hasReversedDates = isReversed(request.query)
    if (request.wantsFragment) {
      const content = await buildContent(request, period)
      return reply
        .code(content.statusCode)
        .renderView({ page: 'dashboard/_fragment' }, { ranges, hasReversedDates, ...content })
    }
    const nonce = reply.createStyleNonce()
    return reply.streamPage('dashboard/dashboard', { ranges, nonce }, async () =>
      app.view('dashboard/_content', {
        ...(await buildContent(request, period)),
        hasReversedDates,
        can: (permission: Permission) => request.can(permission),
      }),
    )
  })
}

/** The dashboard of the portal. */
export default fp(
  async (app) => {
    app.portalPages.push(pages)
    app.addNavigation({
      name: 'dashboard',
      href: '/admin',
      label: 'Dashboard',
      permission: null,
      position: 10,
    })
  },
  {
    name: 'dashboard',
    dependencies: ['webhooks', 'guest-mail', 'fulfilment', 'payments', 'certificates'],
  },
)
