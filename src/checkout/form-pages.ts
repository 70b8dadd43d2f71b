import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { createSigner } from '../core/config/secrets.js'
import { getClientAddress } from '../core/http/client-address.js'
import { getRequestOrigin } from '../core/http/fetch-metadata.js'
import { getDecimalSign, getRequestNumbers } from '../core/http/locale.js'
import { logError, Problem } from '../core/http/problem.js'
import { parseJson } from '../core/validation/formats.js'
import { toTrimmedText } from '../core/validation/text-rules.js'
import { WHOLE_TRIP } from '../orders/share.js'
import { buildOrderFormView, FORM_NOTICES, type OrderFormState } from './order-form-view.js'
import {
  createFormId,
  createFormTokens,
  getCertificateName,
  isFormId,
  parseOrderForm,
  type OrderForm,
} from './order-form.js'
import { readTrip, toFormQuery, type OrderedTrip, type TripResult } from './ordered-trip.js'
import { createOrderPlacer, startPayment } from './place-order.js'
import { requireOrdering, type QuoteResult, type Quotes } from './quotes.js'

type Fields = Record<string, unknown>

interface FormState extends OrderFormState {
  /** A quote that the guest has seen; it is used if it is valid */
  quoteToken: string
  formId: string
}

/**
 * How long a cookie keeps the ID of a form, so that going back to the form does not create a second
 * order.
 */
const FORM_SECONDS = 30 * 60

/** Some clients reject longer response headers. */
const MAX_QUERY_LENGTH = 4_000

/** Browsers reject longer cookies. */
const MAX_DRAFT_LENGTH = 3_900

type Outcome = 'created' | 'replayed' | 'duplicate' | 'invalid' | 'price_changed' | 'failed'

const pages: FastifyPluginAsync = async (app) => {
  const formTokens = createFormTokens(createSigner(app.config.sessionSecrets, 'order form v1'))
  const placeOrder = createOrderPlacer(app)
  const { findNameProblem } = app.certificates
  const { TERMS_URL, PRIVACY_URL, TIME_ZONE, ORDER_RATE_LIMIT_PER_MINUTE } = app.config
  const { PAYMENT: paymentMethod, STRIPE_CHECKOUT_URL, REFUND_POLICY: refundPolicy } = app.config
  const needsConsent = TERMS_URL !== undefined || PRIVACY_URL !== undefined
  const times = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: TIME_ZONE })
  const orders = new Counter({
    name: 'clearwake_guest_orders_total',
    help: 'Order forms submitted by guests, by outcome',
    labelNames: ['outcome'] as const,
    registers: [app.metrics],
  })

  const secure = app.publicBaseUrl().startsWith('https:')
  const cookieName = secure ? '__Secure-clearwake-order' : 'clearwake-order'
  /** Keeps what a guest has submitted, so that a redirect can show it again. */
  const draftCookieName = `${cookieName}-draft`
  const cookieOptions: CookieSerializeOptions = {
    path: '/offset',
    httpOnly: true,
    sameSite: 'lax',
    secure,
    maxAge: FORM_SECONDS,
  }

  /**
   * Returns the quote that the guest has seen, if it is still valid, or a new one; `null` if the
   * share is invalid.
   */
  async function getQuote(
    quotes: Quotes,
    { trip, form, quoteToken }: FormState,
  ): Promise<QuoteResult | null> {
    if (form.share === null) return null
    const request = { ...trip, ...form.share, portfolioId: form.portfolioId }
    const held = quotes.read(quoteToken, request)
    if (held !== null) return { outcome: 'quoted', quote: held, token: quoteToken }
    const created = await quotes.create(request)
    if (created.outcome !== 'portfolio_not_found') return created
    form.errors.portfolioId = 'is no longer offered: choose another one'
    return quotes.create({ ...request, portfolioId: null })
  }

  async function showForm(reply: FastifyReply, state: FormState) {
    const quotes = requireOrdering(app.quotes)
    const { trip, form, formId } = state
    const result = await getQuote(quotes, state)
    if (result?.outcome !== 'quoted' && reply.request.method === 'GET') reply.code(422)
    reply.setCookie(cookieName, formId, cookieOptions)
    if (paymentMethod === 'stripe') reply.allowFormsTo(new URL(STRIPE_CHECKOUT_URL).origin)
    return reply.renderView(
      { page: 'checkout/order-form', fragment: 'checkout/_price-parts' },
      {
        ...buildOrderFormView(
          state,
          {
            result,
            formToken: formTokens.create(formId, trip),
            prices: await quotes.list(trip, form.share ?? WHOLE_TRIP),
            images: app.projectImages,
            nameProblem: await findNameProblem(getCertificateName(form)),
          },
          {
            numbers: getRequestNumbers(reply.request),
            time: (timestamp) => times.format(new Date(timestamp)),
          },
        ),
        paymentMethod,
        terms: { termsUrl: TERMS_URL, privacyUrl: PRIVACY_URL, needsConsent, refundPolicy },
      },
    )
  }

  /** Explains why there is no trip to order for. */
  function showTripError(reply: FastifyReply, result: Exclude<TripResult, { outcome: 'valid' }>) {
    if (result.outcome === 'invalid_form' && reply.request.method === 'GET') {
      // The calculator shows what is missing.
      const [, query = ''] = reply.request.url.split('?')
      const search = query.length > MAX_QUERY_LENGTH ? '' : `?${query}`
      return reply.redirect(`/calculator/${result.calculatorType}${search}`, 303)
    }
    if (result.outcome === 'invalid_link') {
      return reply.code(422).renderView({ page: 'checkout/invalid-link' }, { error: result.error })
    }
    throw new Problem(422, 'There is no trip to buy carbon credits for. Calculate one first.')
  }

  const readRequestTrip = (request: FastifyRequest, fields: Fields): TripResult =>
    readTrip(app.readPrefill, fields, getDecimalSign(request.headers['accept-language']))

  const parseForm = (fields: Fields, { calculation }: OrderedTrip): OrderForm =>
    parseOrderForm(fields, { needsConsent, guests: calculation.calculatorData.guests })

  /** What was submitted in the form that a redirect shows again; empty if there is none. */
  function readDraft({ query, cookies }: FastifyRequest<{ Querystring: Fields }>): Fields {
    if (query.draft === undefined) return {}
    const draft = parseJson(Buffer.from(cookies[draftCookieName] ?? '', 'base64url').toString())
    return typeof draft === 'object' && draft !== null ? { ...draft } : {}
  }

  app.get<{ Querystring: Fields }>('/offset', async (request, reply) => {
    requireOrdering(app.quotes)
    const result = readRequestTrip(request, request.query)
    if (result.outcome !== 'valid') return showTripError(reply, result)
    const { trip, fields } = result
    const draft = readDraft(request)
    const submitted = { ...request.query, ...draft }
    const form = parseForm(submitted, trip)
    const cookie = request.cookies[cookieName]
    const notice = FORM_NOTICES.find((name) => name === draft.notice)
    return showForm(reply, {
      trip,
      fields,
      form,
      quoteToken: toTrimmedText(submitted.quote),
      formId:
        formTokens.read(toTrimmedText(draft.form), trip) ??
        (isFormId(cookie) ? cookie : createFormId()),
      showErrors: draft.showErrors === true,
      ...(notice && { notice }),
      ...(typeof draft.alert === 'string' && { alert: draft.alert }),
    })
  })

  /**
   * Redirects to the form with what was submitted, so that a guest who comes back to it, such as
   * from the payment page, does not have to send it again. Shows it at once if it is too long.
   */
  function redirectToForm(reply: FastifyReply, body: Fields, state: FormState) {
    const { trip, fields, formId, notice, alert, showErrors = false } = state
    const submitted = Object.fromEntries(
      Object.entries(body).filter(([name]) => !(name in fields) && name !== 'action'),
    )
    const form = formTokens.create(formId, trip)
    const draft = Buffer.from(JSON.stringify({ ...submitted, form, notice, alert, showErrors }))
    // The cookie is gone once the order is placed, but the guest can still come back.
    const { portfolioId, share } = state.form
    const shared = toFormQuery(fields, { portfolioId, ...(share ?? { sharePercent: null }) })
    const query = `${shared}&draft=`
    const cookie = draft.toString('base64url')
    if (cookie.length > MAX_DRAFT_LENGTH || query.length > MAX_QUERY_LENGTH) {
      return showForm(reply.code(422), state)
    }
    reply.setCookie(draftCookieName, cookie, cookieOptions)
    return reply.redirect(`/offset?${query}`, 303)
  }

  app.post<{ Body: Fields | undefined }>(
    '/offset',
    {
      config: { rateLimit: { max: ORDER_RATE_LIMIT_PER_MINUTE, timeWindow: '1 minute' } },
    },
    async (request, reply) => {
      const quotes = requireOrdering(app.quotes)
      if (getRequestOrigin(request, app.publicBaseUrl()) === 'cross-origin') {
        throw new Problem(403, 'The form was sent from another site. Nothing was ordered.')
      }
      const { body = {} } = request
      const rejectForm = (outcome: Outcome, rejected: FormState) => {
        orders.inc({ outcome })
        return redirectToForm(reply, body, { ...rejected, showErrors: true })
      }
      const result = readRequestTrip(request, body)
      if (result.outcome !== 'valid') return showTripError(reply, result)
      const { trip, fields } = result
      const form = parseForm(body, trip)
      const knownId = formTokens.read(toTrimmedText(body.form), trip)
      const formId = knownId ?? createFormId()
      const quoteToken = toTrimmedText(body.quote)
      const state = { trip, fields, form, quoteToken, formId }
      if (body.action === 'update') {
        return request.wantsFragment ? showForm(reply, state) : redirectToForm(reply, body, state)
      }

      const { portfolioId, share, details } = form
      const quote = share && quotes.read(quoteToken, { ...trip, ...share, portfolioId })
      if (quote === null) {
        return rejectForm('price_changed', { ...state, notice: 'price_changed' })
      }
      if (details === null) return rejectForm('invalid', state)
      if (knownId === null) {
        return rejectForm('invalid', { ...state, notice: 'form_expired' })
      }
      const name = getCertificateName(form)
      // The guest has to see the problem before paying, but can keep the name.
      if (toTrimmedText(body.keptName) !== name && (await findNameProblem(name)) !== null) {
        return rejectForm('invalid', { ...state, notice: 'unprintable_name' })
      }
      let placed
      try {
        const order = { trip, details, isPublic: form.isPublic, quote, paymentMethod }
        placed = await placeOrder(order, knownId, getClientAddress(request))
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        if (error.statusCode >= 500) logError(error, request)
        reply.headers(error.headers)
        return rejectForm('failed', { ...state, alert: error.message })
      }
      if (placed.outcome === 'idempotency_key_reused') {
        const duplicate = { ...state, formId: createFormId(), notice: 'duplicate' as const }
        return rejectForm('duplicate', duplicate)
      }
      orders.inc({ outcome: placed.outcome })
      reply.clearCookie(draftCookieName, cookieOptions)
      return reply.redirect(await startPayment(app, placed.order, `/o/${placed.token}`), 303)
    },
  )
}

export default pages
