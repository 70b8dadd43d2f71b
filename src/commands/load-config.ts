import { existsSync } from 'node:fs'
import Fastify from 'fastify'
import config, { type Config } from '../core/config/config.js'

/**
 * Loads the configuration as the service does: the environment takes precedence over `.env`. Throws
 * ConfigError.
 */
export async function loadConfig(options: { isSetUp?: boolean } = {}): Promise<Config> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const app = Fastify()
  await app.register(config, { environment: process.env, ...options })
  await app.close()
  return app.config
}
