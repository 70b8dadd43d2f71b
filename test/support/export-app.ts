import { join } from 'node:path'
import { Writable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { validators } from '../../src/orders/validators.js'
import exportRoutes from '../../src/orders/export/routes.js'
import { createOrderStream } from '../../src/orders/export/stream-orders.js'
import apiDocs from '../../src/plugins/api-docs.js'
import assets from '../../src/plugins/assets.js'
import compression from '../../src/plugins/compression.js'
import config from '../../src/plugins/config.js'
import errors from '../../src/plugins/error-handler.js'
import gracefulClose from '../../src/plugins/graceful-shutdown.js'
import hypermedia from '../../src/plugins/htmx.js'
import rateLimits from '../../src/plugins/rate-limits.js'
import security from '../../src/plugins/security-headers.js'
import telemetry from '../../src/plugins/telemetry.js'
import validation from '../../src/plugins/validation.js'
import { serverOptions } from '../../src/server-options.js'
import { SECRET, temporaryFolder } from './app.js'

export interface ExportApp {
  app: FastifyInstance
  /** URL of the export */
  url: string
  log: Record<string, unknown>[]
}

/** A service of exports alone, on a real port, open to all; stopped when the test ends. */
export async function startExportApp(
  t: Test,
  path: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<ExportApp> {
  const log: Record<string, unknown>[] = []
  const logStream = new Writable({
    write(line: Buffer, _encoding, done) {
      log.push(JSON.parse(line.toString()) as Record<string, unknown>)
      done()
    },
  })
  const full = {
    DATA_DIR: join(temporaryFolder(t), 'data'),
    SESSION_SECRET: SECRET,
    PORT: '0',
    ...environment,
  }
  const app: FastifyInstance = Fastify(serverOptions(full, logStream))
  await app.register(config, { environment: full })
  await app.register(gracefulClose)
  await app.register(assets)
  await app.register(hypermedia)
  await app.register(rateLimits)
  await app.register(errors)
  await app.register(security)
  await app.register(telemetry)
  await app.register(compression)
  await app.register(validation, { validators })
  await app.register(apiDocs)
  const sendOrders = createOrderStream(app, {
    store: { path, check: () => undefined, createErrorTranslator: () => (error: unknown) => error },
    timeZone: app.config.TIME_ZONE,
  })
  await app.register(exportRoutes, { sendOrders })
  t.teardown(() => app.close())
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, url: `${address}/api/admin/orders/export`, log }
}
