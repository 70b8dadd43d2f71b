import type { FastifyInstance, RouteOptions } from 'fastify'
import { getFormatters } from '../core/formatting/portal-formatters.js'
import { getLocale } from '../core/http/locale.js'
import type { Freshness } from './store/order-store.js'

const AS_OF = {
  'orders-as-of': {
    type: 'string',
    format: 'date-time',
    description:
      'With NocoDB only: the orders are shown as they were in NocoDB at this time. Absent until the first load is complete.',
  },
}

/** Adds the header to the documented responses of a route. */
function documentHeader({ schema }: RouteOptions): void {
  if (schema?.tags === undefined || schema.response === undefined) return
  const responses = Object.entries(schema.response as Record<string, { headers?: object }>)
  schema.response = Object.fromEntries(
    responses.map(([status, response]) => {
      const headers = { ...response.headers, ...AS_OF }
      return [status, { ...response, headers }]
    }),
  )
}

/**
 * Adds the `orders-as-of` header to all responses of a scope: the time at which the orders last
 * matched NocoDB.
 */
export function addFreshnessHeader(app: FastifyInstance): void {
  app.addHook('onRoute', documentHeader)
  app.addHook('onRequest', async (_request, reply) => {
    const asOf = app.orders.getFreshness()?.asOf
    if (asOf != null) void reply.header('orders-as-of', asOf)
  })
}

const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** Formats an age in English, like the surrounding sentence, such as `5 min ago`. */
function formatAge(timestamp: string, now: number): string {
  const age = (now - Date.parse(timestamp)) / 1000
  const [unit, seconds] = UNITS.find(([, length]) => age >= length) ?? []
  if (unit === undefined || seconds === undefined) return 'less than a minute ago'
  const format = new Intl.RelativeTimeFormat('en-GB', { style: 'short' })
  return format.format(-Math.floor(age / seconds), unit).replace('.', '')
}

/**
 * The notice on pages while the mirror is behind NocoDB; `null` if it is current. Also
 * `null` if nothing has been loaded yet, because pages have their own message for that.
 *
 * @param now ms since 1970
 */
export function buildFreshnessView(
  freshness: Freshness | null,
  { locale, timeZone, now }: { locale: string; timeZone: string; now: number },
) {
  if (freshness?.problem == null || freshness.asOf === null) return null
  const { asOf, problem, isWritable } = freshness
  const format = getFormatters(locale, timeZone)
  const text = `${problem}.${isWritable ? '' : ' Changes cannot be saved until this is resolved.'}`
  const isToday = format.date(asOf) === format.date(new Date(now).toISOString())
  const time = isToday ? format.time(asOf) : format.dateTime(asOf)
  return { asOf, time, age: formatAge(asOf, now), timeZone, text }
}

/** Adds a notice to all pages of a scope while the mirror is behind NocoDB. */
export function addFreshnessNotice(app: FastifyInstance): void {
  const { orders: store } = app
  const { timeZone } = store.calendar
  app.addHook('onRequest', async (request, reply) => {
    if (store.getFreshness() === null) return
    const locale = getLocale(request.headers['accept-language'])
    reply.outOfBand = {
      template: 'portal/_freshness-part',
      getData: () => ({
        freshness: buildFreshnessView(store.getFreshness(), { locale, timeZone, now: Date.now() }),
      }),
    }
  })
}
