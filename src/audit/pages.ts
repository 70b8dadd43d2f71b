import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditExportQuery, createAuditExport } from './audit-export.js'
import { parseAuditQuery } from './audit-query.js'
import { getLocale } from '../core/http/locale.js'
import adminPages from '../accounts/admin-pages.js'
import { getFormatters } from '../core/formatting/formatters.js'
import {
  AUDIT_LOG_URL,
  buildActionChoices,
  buildAuditEntryView,
  buildAuditUrl,
} from './audit-log-view.js'

const EXPORT_URL = `${AUDIT_LOG_URL}/export`

const READ = { config: { permission: 'audit-log:read' } } as const

/** Settings: the audit log. */
const pages: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(adminPages)
  app.settings.addPage({
    href: '/admin/settings/audit-log',
    label: 'Audit log',
    permission: 'audit-log:read',
  })
  const { TIME_ZONE: timeZone, AUDIT_RETENTION_DAYS: retentionDays } = app.config

  app.get(AUDIT_LOG_URL, READ, async (request, reply) => {
    const format = getFormatters(getLocale(request.headers['accept-language']), timeZone)
    const { query, ignored } = parseAuditQuery(request.query as Record<string, unknown>)
    const { before, pageSize, ...filters } = query
    const { items, hasMore } = await app.auditLog.list(filters, { before, limit: pageSize })
    const next = hasMore ? items.at(-1)?.position : undefined
    return reply.renderSettings(
      { page: 'portal/settings/audit-log' },
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
