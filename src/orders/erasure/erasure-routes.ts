import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { getNumberFormatter } from '../../core/formatting/number-formatter.js'
import { getLocale } from '../../core/http/locale.js'
import { problemResponses } from '../../core/http/problem.js'
import { emailAddress } from '../../core/validation/email-address.js'
import { checker } from '../../core/validation/field-errors.js'
import { toText } from '../../core/validation/text-rules.js'
import { isErased } from '../erase-order.js'

/** A customer whose personal data is to be erased. */
const Customer = Type.Object(
  {
    email: emailAddress({
      format: 'known-email-address',
      description:
        'Email address of the customer; all spellings of the mailbox are equivalent, such as upper and lower case, or a domain in Unicode and in Punycode',
    }),
  },
  { title: 'Customer', additionalProperties: false, examples: [{ email: 'ann@example.com' }] },
)

const Erasure = Type.Object(
  {
    orders: Type.Integer({ description: 'Number of orders whose personal data was erased' }),
    remaining: Type.Integer({
      description:
        "Number of the customer's orders that are not erased yet; repeat the request until it is 0",
    }),
    rewriting: Type.Optional(
      Type.Boolean({
        description:
          'true while unused parts of the database file may still have copies, which are removed in the background; otherwise absent',
      }),
    ),
  },
  { title: 'Erasure' },
)

/** API for the erasure of personal data. */
export const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/api/admin/erasures',
    {
      config: { permission: 'personal-data:erase' },
      schema: {
        tags: ['Orders'],
        operationId: 'erasePersonalData',
        summary: 'Erase the personal data of a customer',
        description:
          'Erases name, email, notes, company, VAT ID and the name on the certificate from all orders that have or had this email address, their history, emails, webhook deliveries and certificates. An order that has another email address now keeps its current name, email and notes. Vessel, trip, emissions and amounts are kept. This cannot be undone. The audit log records only the number of orders.',
        body: Customer,
        response: { 200: Erasure, ...problemResponses },
      },
    },
    async (request) => app.eraser.erase(request.body.email, request),
  )
}

const PERSONAL_DATA_URL = '/admin/settings/personal-data'

const ERASE = { config: { permission: 'personal-data:erase', recentSignIn: true } } as const

/** Code of the flash message */
const ERASED = 'personal-data-erased'

/** Maximum number of orders named in the confirmation. */
const MAX_NAMED = 5

interface EmailForm {
  email: string
  error?: string
}

const validate = checker(Customer)

function parseForm(body: Record<string, unknown> | undefined): EmailForm {
  const email = toText(body?.email).trim()
  if (email === '') return { email, error: 'enter an email address' }
  const result = validate({ email })
  return result.ok ? { email } : { email, error: result.errors[0]?.message ?? 'is invalid' }
}

/** Settings: the erasure of a customer's personal data. */
export const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, eraser } = app
  app.settings.addPage({
    href: PERSONAL_DATA_URL,
    label: 'Personal data',
    permission: 'personal-data:erase',
  })

  const getNumbers = ({ request }: FastifyReply) =>
    getNumberFormatter(getLocale(request.headers['accept-language']))

  const renderForm = (reply: FastifyReply, form: EmailForm, isDone = false) =>
    reply.renderSettings(
      { page: 'orders/personal-data' },
      {
        form,
        usesNocoDb: app.config.DATABASE_BASE_URL !== undefined,
        isRewriting: eraser.isRewriting(),
        success: isDone ? { text: 'The personal data was erased.' } : null,
      },
    )

  app.get<{ Querystring: { order?: string } }>(
    PERSONAL_DATA_URL,
    ERASE,
    async ({ query }, reply) => {
      const isDone = reply.consumeFlash()?.code === ERASED
      const order = typeof query.order === 'string' ? await store.get(query.order) : null
      const email = order === null || isErased(order) ? '' : order.customerEmail
      return renderForm(reply, { email }, isDone)
    },
  )

  app.post<{ Body: Record<string, unknown> | undefined }>(
    PERSONAL_DATA_URL,
    ERASE,
    async ({ body }, reply) => {
      const form = parseForm(body)
      if (form.error !== undefined) return renderForm(reply.code(422), form)
      const { current, former } = await eraser.findOrders(form.email)
      const ids = [...current, ...former]
      if (ids.length === 0) {
        const error = 'no order has this email address'
        return renderForm(reply.code(422), { ...form, error })
      }
      const named = await Promise.all(ids.slice(0, MAX_NAMED).map((id) => store.get(id)))
      return reply.renderSettings(
        { page: 'orders/personal-data-confirm' },
        {
          email: form.email,
          count: getNumbers(reply).whole(ids.length),
          isOne: ids.length === 1,
          former: former.length > 0 ? getNumbers(reply).whole(former.length) : null,
          isOneFormer: former.length === 1,
          orders: named
            .filter((order) => order !== null)
            .map(({ id, orderNumber }) => ({ url: `/admin/orders/${id}`, orderNumber })),
          more: ids.length > MAX_NAMED ? getNumbers(reply).whole(ids.length - MAX_NAMED) : null,
        },
      )
    },
  )

  app.post<{ Body: Record<string, unknown> | undefined }>(
    `${PERSONAL_DATA_URL}/erase`,
    ERASE,
    async (request, reply) => {
      const form = parseForm(request.body)
      if (form.error !== undefined) return renderForm(reply.code(422), form)
      const { remaining } = await eraser.erase(form.email, request)
      if (remaining > 0) {
        const error = `${getNumbers(reply).whole(remaining)} remaining: continue to erase more orders with this email address`
        return renderForm(reply, { ...form, error })
      }
      reply.setFlash({ code: ERASED })
      return reply.redirect(PERSONAL_DATA_URL, 303)
    },
  )
}
