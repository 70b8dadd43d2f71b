import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { AUDIT_ACTION_NAMES, type AuditAction, type AuditEntry } from '../../audit/audit-entry.js'
import {
  AUDIT_CONTENT_TYPES,
  AuditExportQuery,
  createAuditExport,
} from '../../audit/audit-export.js'
import { AuditQuery, findAuditFilterErrors } from '../../audit/audit-query.js'
import { createValidationProblem, problemResponses, withHeaders } from '../../core/http/problem.js'
import { stringEnum } from '../../core/validation/schema-types.js'
import pages from './audit-log-pages.js'

const Entry = Type.Object(
  {
    position: Type.Integer({ description: 'Position in the log, without gaps' }),
    at: Type.String({ format: 'date-time' }),
    action: stringEnum<AuditAction>(AUDIT_ACTION_NAMES),
    actor: Type.String({
      description: 'Who did it: the email of a user, or the name of an API key',
    }),
    address: Type.Union([Type.String(), Type.Null()], {
      description: 'Network address of the client; null without one',
    }),
    details: Type.Object({}, { additionalProperties: true, description: 'Depends on the action' }),
    hash: Type.String({ description: 'SHA-256 of this entry and the hash of the previous one' }),
  },
  { title: 'Entry of the audit log' },
)

const AuditPage = Type.Object(
  {
    items: Type.Array(Entry, { description: 'Newest first' }),
    next: Type.Union([Type.Integer(), Type.Null()], {
      description: '`before` of the next page; null on the last page',
    }),
  },
  { title: 'Page of the audit log' },
)

const Link = Type.String({ description: 'First and next page (RFC 8288)' })

const toResponse = ({ at, ...entry }: AuditEntry) => ({ ...entry, at: new Date(at).toISOString() })

const config = { permission: 'audit-log:read' } as const
const tags = ['Audit log']

/** The API and the page of the audit log. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.portalPages.push(pages)
  app.get(
    '/api/admin/audit-log',
    {
      config,
      schema: {
        tags,
        operationId: 'listAuditLog',
        summary: 'List the audit log',
        description:
          'Sign-ins, API keys, webhooks, exports, refunds and other security events. Entries are never changed; they are deleted after AUDIT_RETENTION_DAYS.',
        querystring: AuditQuery,
        response: { 200: withHeaders(AuditPage, { Link }), ...problemResponses },
      },
    },
    async ({ query, url }, reply) => {
      const { before, pageSize, ...filters } = query
      const errors = findAuditFilterErrors(filters)
      if (errors.length > 0) throw createValidationProblem(errors)
      const { items, hasMore } = await app.auditLog.list(filters, { before, limit: pageSize })
      const next = hasMore ? (items.at(-1)?.position ?? null) : null
      reply.header('link', buildLinks(url, next))
      return { items: items.map(toResponse), next }
    },
  )

  const sendExport = createAuditExport(app)
  app.get(
    '/api/admin/audit-log/export',
    {
      config,
      schema: {
        tags,
        operationId: 'exportAuditLog',
        summary: 'Export the audit log as CSV or NDJSON',
        description:
          'Exports all entries that match the filters, newest first; the export itself is recorded. In CSV files, text that a spreadsheet would run as a formula is prefixed with an apostrophe.',
        querystring: AuditExportQuery,
        response: {
          200: {
            description: 'The file',
            headers: { 'Content-Disposition': Type.String({ description: 'File name' }) },
            content: {
              'text/csv': { schema: { type: 'string' } },
              [AUDIT_CONTENT_TYPES.ndjson]: { schema: { type: 'string' } },
            },
          },
          ...problemResponses,
        },
      },
    },
    async (request, reply) => sendExport(request, reply, request.query),
  )
}

function buildLinks(url: string, next: number | null): string {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const link = (rel: string) => {
    const query = searchParams.toString()
    return `<${pathname}${query === '' ? '' : `?${query}`}>; rel="${rel}"`
  }
  searchParams.delete('before')
  const first = link('first')
  if (next === null) return first
  searchParams.set('before', String(next))
  return `${first}, ${link('next')}`
}

export default routes
