import type { FastifyRequest } from 'fastify'
import type { AuditLog } from '../audit/audit-log.js'
import type { OrderStore } from '../orders/store/order-store.js'
import { DEFAULT_SORT } from '../orders/order-filters.js'
import type { ExportRequest } from './export-request.js'

/** Larger exports require a recent sign-in */
const MAX_ROWS_WITHOUT_RECENT_SIGN_IN = 1000

/**
 * Records an export in the audit log, whether or not the client receives all of it. Throws a
 * Problem (403) if a large export requires a more recent sign-in.
 */
export type RecordExport = (request: FastifyRequest, task: ExportRequest) => Promise<void>

/** Creates the function that records exports of orders. */
export const createExportRecorder =
  (auditLog: AuditLog, store: Pick<OrderStore, 'list'>): RecordExport =>
  async (request, { format, filters }) => {
    const slice = { sort: DEFAULT_SORT, offset: 0, limit: 1 }
    const { total: rows, isTotalExact } = await store.list(filters, slice)
    if (rows > MAX_ROWS_WITHOUT_RECENT_SIGN_IN) request.requireRecentSignIn()
    // The search text is not recorded, because it often contains a name or an email address.
    const { q, ...others } = filters
    const recorded = q === undefined ? others : { ...others, hasSearch: true }
    await auditLog.record(request, {
      action: 'orders.exported',
      details: { format, filters: recorded, rows, ...(isTotalExact ? {} : { isEstimate: true }) },
    })
  }
