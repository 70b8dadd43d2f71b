import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  AUDIT_ACTION_NAMES,
  AUDIT_ACTIONS,
  type AuditDetails,
  type AuditEntry,
} from '../../audit/audit-entry.js'
import { AuditExportQuery, createAuditExport } from '../../audit/audit-export.js'
import { AUDIT_PAGE_SIZE, parseAuditQuery, type AuditQuery } from '../../audit/audit-query.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { getRequestFormatters } from '../../core/http/locale.js'
import { isObject } from '../../core/validation/is-object.js'
import { toTime } from '../../outbox/message-view.js'

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

export default pages
