import { Readable } from 'node:stream'
import { Type, type Static } from '@sinclair/typebox'
import { writeToString } from 'fast-csv'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { escapeFormula } from '../core/formatting/text.js'
import { createValidationProblem } from '../core/http/problem.js'
import { stringEnum } from '../core/validation/formats.js'
import type { AuditEntry } from './audit-entry.js'
import type { AuditLog } from './audit-log.js'
import { AuditFilters, findAuditFilterErrors } from './audit-query.js'

const FORMATS = ['csv', 'ndjson'] as const
type Format = (typeof FORMATS)[number]

export const AUDIT_CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
} as const satisfies Record<Format, string>

const BATCH_SIZE = 1_000

/** The filters of the audit log, and the file format. */
export const AuditExportQuery = Type.Object(
  {
    ...AuditFilters.properties,
    format: stringEnum<Format>(FORMATS, { default: 'csv', description: 'File format' }),
  },
  { additionalProperties: false },
)
export type AuditExportQuery = Static<typeof AuditExportQuery>

const HEADER = ['position', 'at', 'action', 'actor', 'address', 'details', 'hash']

const toIso = (time: number): string => new Date(time).toISOString()

const toLine = ({ position, at, action, actor, address, details, hash }: AuditEntry): string[] => [
  String(position),
  toIso(at),
  action,
  escapeFormula(actor),
  address ?? '',
  escapeFormula(JSON.stringify(details)),
  hash,
]

const formatCsv = (lines: string[][]): Promise<string> =>
  writeToString(lines, { rowDelimiter: '\r\n', includeEndRowDelimiter: true })

const formatNdjson = (entries: readonly AuditEntry[]): string =>
  entries.map((entry) => `${JSON.stringify({ ...entry, at: toIso(entry.at) })}\n`).join('')

async function* writeEntries(
  auditLog: AuditLog,
  { format, ...filters }: AuditExportQuery,
  head: number,
): AsyncGenerator<string> {
  if (format === 'csv') yield `\ufeff${await formatCsv([HEADER])}`
  for (let before: number | undefined = head + 1; before !== undefined;) {
    const { items, hasMore } = await auditLog.list(filters, { before, limit: BATCH_SIZE })
    if (items.length > 0) {
      yield format === 'csv' ? await formatCsv(items.map(toLine)) : formatNdjson(items)
    }
    before = hasMore ? items.at(-1)?.position : undefined
  }
}

/** Creates the handler that sends the export, for the API and the page. */
export const createAuditExport =
  ({ auditLog }: Pick<FastifyInstance, 'auditLog'>) =>
  async (
    request: FastifyRequest,
    reply: FastifyReply,
    query: AuditExportQuery,
  ): Promise<FastifyReply> => {
    const { format, ...filters } = query
    const errors = findAuditFilterErrors(filters)
    if (errors.length > 0) throw createValidationProblem(errors)
    const today = new Date().toISOString().slice(0, 10)
    reply
      .type(AUDIT_CONTENT_TYPES[format])
      .header('content-disposition', `attachment; filename="audit-log-${today}.${format}"`)
    if (request.method === 'HEAD') return reply.send('')
    // Excludes entries that are appended during the export, such as the export's own.
    const { position } = await auditLog.getHead()
    const rows = await auditLog.count(filters)
    await auditLog.record(request, {
      action: 'audit_log.exported',
      details: { format, filters, rows },
    })
    return reply.send(Readable.from(writeEntries(auditLog, query, position)))
  }
