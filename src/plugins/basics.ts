import fp from 'fastify-plugin'
import type { Validators } from '../validation/validator.js'
import brand from './brand.js'
import compression from './compression.js'
import config from './config.js'
import database from './database.js'
import errorHandler from './error-handler.js'
import gracefulShutdown from './graceful-shutdown.js'
import health from './health.js'
import hostHeader from './host-header.js'
import htmx from './htmx.js'
import jsonParser from './json-parser.js'
import loadShedding from './load-shedding.js'
import rateLimits from './rate-limits.js'
import scheduler from './scheduler.js'
import securityHeaders from './security-headers.js'
import stateStore from './state-store.js'
import staticFiles from './static-files.js'
import telemetry from './telemetry.js'
import validation from './validation.js'

interface Options {
  /** Environment variables, as listed in `.env.example` */
  environment: NodeJS.ProcessEnv
  validators: Validators
}

/** What every web service needs, in the order of its hooks. */
export default fp<Options>(async (app, { environment, validators }) => {
  await app.register(config, { environment })
  await app.register(gracefulShutdown)
  await app.register(securityHeaders)
  // Before any hook that can reject a request, so that rejected requests are counted.
  await app.register(telemetry)
  await app.register(hostHeader)
  await app.register(loadShedding) // before everything that costs more than a rejected request
  await app.register(staticFiles) // before the rate limits, which do not count assets
  await app.register(brand)
  await app.register(htmx)
  await app.register(rateLimits)
  await app.register(errorHandler)
  await app.register(health)
  await app.register(compression)
  await app.register(jsonParser)
  await app.register(validation, { validators })
  await app.register(scheduler)
  await app.register(database)
  await app.register(stateStore)
})
