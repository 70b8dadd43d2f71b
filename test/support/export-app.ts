import { join } from 'node:path'
import compress from '@fastify/compress'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import apiDocs from '../../src/api-docs/api-docs.js'
import type { AuditLog } from '../../src/audit/audit-log.js'
import { CONFIG_PARTS } from '../../src/config-parts.js'
import config from '../../src/core/config/config.js'
import { COMPRESSION, serverOptions } from '../../src/core/core.js'
import brand from '../../src/core/html/brand.js'
import staticFiles from '../../src/core/html/static-files.js'
import htmx from '../../src/core/html/views.js'
import errorHandler from '../../src/core/server/error-handler.js'
import gracefulShutdown from '../../src/core/server/graceful-shutdown.js'
import rateLimits from '../../src/core/server/rate-limits.js'
import securityHeaders from '../../src/core/server/security-headers.js'
import telemetry from '../../src/core/server/telemetry.js'
import validation from '../../src/core/server/validation.js'
import orderExports from '../../src/exports/exports.js'
import type { OrderFilterResolver } from '../../src/orders/orders.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { validators } from '../../src/orders/validators.js'
import { recordLog, SECRET, temporaryFolder } from './app.js'

export interface ExportApp {
  app: FastifyInstance
  /** URL of the export */
  url: string
  log: Record<string, unknown>[]
}

/**
 * Starts a service with the export routes only, without sign-in; stopped when the test ends.
 *
 * @param path of the order database
 */
export async function startExportApp(
  t: Test,
  path: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<ExportApp> {
  const { log, logStream } = recordLog()
  const fullEnvironment = {
    DATA_DIR: join(temporaryFolder(t), 'data'),
    SESSION_SECRET: SECRET,
    PORT: '0',
    ...environment,
  }
  const app: FastifyInstance = Fastify(serverOptions(fullEnvironment, logStream))
  await app.register(config, { environment: fullEnvironment, parts: CONFIG_PARTS })
  await app.register(gracefulShutdown)
  await app.register(staticFiles)
  await app.register(brand)
  await app.register(htmx)
  await app.register(rateLimits)
  await app.register(errorHandler)
  await app.register(securityHeaders)
  await app.register(telemetry)
  await app.register(compress, COMPRESSION)
  await app.register(validation, { validators })
  await app.register(apiDocs)
  app.decorate('orders', {
    source: { type: 'sqlite', path },
    check: () => undefined,
    translateError: (error: unknown) => error,
    list: async () => ({ items: [], total: 0, isTotalExact: true }),
    getFreshness: () => null,
  } as Partial<OrderStore> as OrderStore)
  app.decorate('orderFilters', { resolve: async (filters) => filters } as OrderFilterResolver)
  app.decorate('auditLog', { record: async () => undefined } as Partial<AuditLog> as AuditLog)
  app.decorate('portalPages', [])
  await app.register(orderExports)
  t.teardown(() => app.close())
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, url: `${address}/api/admin/orders/export`, log }
}
