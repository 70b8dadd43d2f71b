import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import {
  AUDIT_ACTION_NAMES,
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditDetails,
  type AuditEntry,
} from '../../audit/audit-entry.js'
import {
  AUDIT_CONTENT_TYPES,
  AuditExportQuery,
  createAuditExport,
} from '../../audit/audit-export.js'
import {
  AUDIT_PAGE_SIZE,
  AuditQuery,
  findAuditFilterErrors,
  parseAuditQuery,
} from '../../audit/audit-query.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { getRequestFormatters } from '../../core/http/locale.js'
import { createValidationProblem, problemResponses, withHeaders } from '../../core/http/problem.js'
import { isObject, stringEnum } from '../../core/validation/formats.js'
import { toTime } from '../../outbox/read-messages.js'

const AUDIT_LOG_URL = '/admin/settings/audit-log'

/** Builds the URL of a page of the log, or of its export. */
function buildAuditUrl(query: Partial<AuditQuery>, path = AUDIT_LOG_URL, format = ''): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (name === 'pageSize' && value === AUDIT_PAGE_SIZE) continue
    for (const item of [value].flat()) parameters.append(name, String(item))
  }
  if (format !== '') parameters.set('format', format)
  const text = parameters.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The actions that entries can be filtered by. */
const buildActionChoices = ({ action = [] }: AuditQuery) =>
  AUDIT_ACTION_NAMES.map((value) => ({
    value,
    label: AUDIT_ACTIONS[value],
    isSelected: action.includes(value),
  }))

/** Converts `expiresAt` to `expires at`. */
const toLabel = (name: string): string =>
  name === 'ID' ? name : name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const toText = (value: unknown): string =>
  isObject(value) && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, each]) => `${toLabel(name)}: ${toText(each)}`)
        .join('; ')
    : [value].flat().join(', ')

function buildDetails({ id, amountMinor, currency, ...others }: AuditDetails, format: Formatters) {
  const amount =
    typeof amountMinor === 'number' && typeof currency === 'string'
      ? { amount: format.money(amountMinor, currency) }
      : {}
  return Object.entries({ ...amount, ...others, ...(id === undefined ? {} : { ID: id }) })
    .map(([name, value]) => ({ name: toLabel(name), text: toText(value) }))
    .filter(({ text }) => text !== '')
}

/** Builds an entry for the page. */
const buildAuditEntryView = (entry: AuditEntry, query: AuditQuery, format: Formatters) => {
  const { position, at, action, actor, address, details } = entry
  const filters: Partial<AuditQuery> = { ...query, actor }
  delete filters.before
  return {
    position,
    at: toTime(at, format),
    label: AUDIT_ACTIONS[action],
    isFailure: action === 'sign_in.failed',
    actor,
    actorUrl: buildAuditUrl(filters),
    address,
    details: buildDetails(details, format),
  }
}

const EXPORT_URL = `${AUDIT_LOG_URL}/export`

const READ = { config: { permission: 'audit-log:read' } } as const

/** Settings: the audit log. */
const pages: FastifyPluginAsyncTypebox = async (app) => {
  app.settings.addPage({
    href: AUDIT_LOG_URL,
    label: 'Audit log',
    permission: 'audit-log:read',
  })
  const { TIME_ZONE: timeZone, AUDIT_RETENTION_DAYS: retentionDays } = app.config

  app.get(AUDIT_LOG_URL, READ, async (request, reply) => {
    const format = getRequestFormatters(request)
    const { query, ignored } = parseAuditQuery(request.query as Record<string, unknown>)
    const { before, pageSize, ...filters } = query
    const { items, hasMore } = await app.auditLog.list(filters, { before, limit: pageSize })
    const next = hasMore ? items.at(-1)?.position : undefined
    return reply.renderSettings(
      { page: 'accounts/audit-log' },
      {
        filters,
        ignored,
        isFiltered: Object.keys(filters).length > 0,
        actions: buildActionChoices(query),
        entries: items.map((entry) => buildAuditEntryView(entry, query, format)),
        newest: before === undefined ? null : buildAuditUrl(filters),
        older: next === undefined ? null : buildAuditUrl({ ...query, before: next }),
        exports: (['csv', 'ndjson'] as const).map((type) => ({
          label: type === 'csv' ? 'CSV' : 'NDJSON',
          href: buildAuditUrl(filters, EXPORT_URL, type),
        })),
        timeZone,
        retentionDays: format.count(retentionDays),
      },
    )
  })

  const sendExport = createAuditExport(app)
  app.get(
    EXPORT_URL,
    { ...READ, schema: { querystring: AuditExportQuery } },
    async (request, reply) => sendExport(request, reply, request.query),
  )
}

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
