import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { buildApp, type Extras } from '../../src/app.js'
import type { Scope } from './scope.js'

/** A session secret; the minimum is 32 bytes. */
export const SECRET = 'a secret for tests, of more than 32 bytes'

/** Creates a folder, removed when the test ends. */
export function temporaryFolder(t: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), 'clearwake-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface TestApp {
  app: FastifyInstance
  /** Such as http://127.0.0.1:40001 */
  url: string
  /** Parsed log entries so far */
  log: Record<string, unknown>[]
}

/** Creates a log stream that parses entries into an array. */
export function recordLog(): { log: Record<string, unknown>[]; logStream: Writable } {
  const log: Record<string, unknown>[] = []
  const logStream = new Writable({
    write(line: Buffer, _encoding, done) {
      log.push(JSON.parse(line.toString()) as Record<string, unknown>)
      done()
    },
  })
  return { log, logStream }
}

/** Starts the service in this process, by default on a free port; stopped when the test ends. */
export async function startApp(
  t: Test,
  environment: NodeJS.ProcessEnv = {},
  extras: Extras = {},
): Promise<TestApp> {
  const { log, logStream } = recordLog()
  const app = await buildApp({
    ...extras,
    environment: {
      DATA_DIR: temporaryFolder(t),
      SESSION_SECRET: SECRET,
      PORT: '0',
      // No load shedding on a slow machine.
      SHED_AFTER_MS: '60000',
      MAIL_HOLD_SECONDS: '0',
      ...environment,
    },
    logStream,
  })
  t.teardown(() => app.close())
  // A server that closes an idle connection while a client uses it makes the request fail.
  app.server.keepAliveTimeout = 0
  const url = await app.listen({ host: '127.0.0.1', port: app.config.PORT })
  return { app, url, log }
}

/** Sends a POST request with JSON, and parses the JSON response. */
export async function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: any }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
