import fp from 'fastify-plugin'
import type { Validators } from './validation/validator.js'
import brand from './html/brand.js'
import compression from './server/compression.js'
import type { ConfigPart } from './config/config-part.js'
import config from './config/config.js'
import errorHandler from './server/error-handler.js'
import gracefulShutdown from './server/graceful-shutdown.js'
import health from './server/health.js'
import hostHeader from './server/host-header.js'
import views from './html/views.js'
import jsonParser from './server/json-parser.js'
import loadShedding from './server/load-shedding.js'
import rateLimits from './server/rate-limits.js'
import scheduler from './server/scheduler.js'
import securityHeaders from './server/security-headers.js'
import staticFiles from './html/static-files.js'
import telemetry from './server/telemetry.js'
import validation from './server/validation.js'

interface Options {
  /** Environment variables, as listed in `.env.example` */
  environment: NodeJS.ProcessEnv
  /** The variables of the features */
  configParts: readonly ConfigPart[]
  validators: Validators
}

/** What every web service needs, in the order of its hooks. */
export default fp<Options>(async (app, { environment, configParts, validators }) => {
  await app.register(config, { environment, parts: configParts })
  await app.register(gracefulShutdown)
  await app.register(securityHeaders)
  // Before any hook that can reject a request, so that rejected requests are counted.
  await app.register(telemetry)
  await app.register(hostHeader)
  await app.register(loadShedding) // before everything that costs more than a rejected request
  await app.register(staticFiles) // before the rate limits, which do not count assets
  await app.register(brand)
  await app.register(views)
  await app.register(rateLimits)
  await app.register(errorHandler)
  await app.register(health)
  await app.register(compression)
  await app.register(jsonParser)
  await app.register(validation, { validators })
  await app.register(scheduler)
})
