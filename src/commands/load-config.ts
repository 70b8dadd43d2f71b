import { existsSync } from 'node:fs'
import Fastify from 'fastify'
import { CONFIG_PARTS } from '../config-parts.js'
import config, { type Config } from '../core/config/config.js'

/**
 * Loads the configuration as the service does: the environment takes precedence over `.env`. Throws
 * ConfigError.
 */
export async function loadConfig(parts = CONFIG_PARTS): Promise<Readonly<Config>> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const app = Fastify()
  await app.register(config, { environment: process.env, parts })
  await app.close()
  return app.config
}

/** The directory from which a command was called; npm runs scripts in the project directory. */
export function callerDirectory(command: string): string {
  const { npm_lifecycle_event: script, INIT_CWD } = process.env
  return (script === command ? INIT_CWD : undefined) ?? process.cwd()
}
