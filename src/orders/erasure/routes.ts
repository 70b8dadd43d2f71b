import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses } from '../../core/http/problem.js'
import { emailAddress } from '../../core/validation/email-address.js'

/** A customer whose personal data is to be erased. */
export const Customer = Type.Object(
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
const routes: FastifyPluginAsyncTypebox = async (app) => {
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

export default routes
