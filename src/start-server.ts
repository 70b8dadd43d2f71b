import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { FirstAdministrator } from './accounts/configured-accounts.js'
import { buildApp, type Extras } from './app.js'
import { ConfigError } from './core/config/config-part.js'
import { DatabaseUnavailableError } from './database/database.js'
import { DatabaseError } from './database/open-database.js'

/** Errors that an operator can fix get a plain message; other errors include the stack. */
function describeStartError(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (error instanceof DatabaseError || error instanceof DatabaseUnavailableError)
    return `Clearwake cannot start: ${error.message}`
  if (error instanceof Error && 'code' in error) {
    if (error.code === 'EADDRINUSE') return 'Clearwake cannot start: the port is in use (PORT).'
    if (error.code === 'EACCES' && 'syscall' in error && error.syscall === 'listen')
      return 'Clearwake cannot start: it is not allowed to listen on this address and port (HOST, PORT).'
    if (error.code === 'EADDRNOTAVAIL') {
      return 'Clearwake cannot start: this machine has no such address (HOST).'
    }
  }
  return `Clearwake cannot start:\n${error instanceof Error ? error.stack : String(error)}`
}

/** Printed for the operator; must not be logged. */
const formatCredentials = ({ email, password }: FirstAdministrator): string => `
Clearwake created a first administrator. This password is shown only once:

  email     ${email}
  password  ${password}

`

/**
 * Standard output, written asynchronously, so that a blocked log reader does not block requests.
 * New entries are dropped while the buffer is full. The buffer is flushed at exit.
 */
const logStream = () =>
  pino.destination({
    sync: false,
    maxLength: 16 * 1024 * 1024,
    minLength: 8 * 1024,
    periodicFlush: 100,
  })

/**
 * Signals of fatal errors, such as SIGBUS if the disk of a mapped file fails. If these signals had
 * a listener, the failing instruction would repeat for ever. They have none, so the process exits
 * and can be restarted.
 */
const FATAL = ['SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'] satisfies NodeJS.Signals[]

/** Long enough for active clients to learn that their connection is closing. */
const DRAIN_MS = 500

/**
 * Starts the service. On SIGTERM and SIGINT it stops accepting requests and lets those in progress
 * finish. Exits with 1 and a message if it cannot start.
 */
export async function startServer(
  environment: NodeJS.ProcessEnv,
  extras: Extras = {},
): Promise<FastifyInstance> {
  let first: FirstAdministrator | undefined
  try {
    const app = await buildApp({
      ...extras,
      environment,
      logStream: logStream(),
      onFirstAdministrator: (account) => (first = account),
    })
    const { HOST, PORT, SHUTDOWN_TIMEOUT_MS } = app.config
    const closing = { delay: SHUTDOWN_TIMEOUT_MS, logger: app.log, skip: FATAL }
    closeWithGrace(closing, async ({ err, signal }) => {
      if (err) app.log.fatal({ err }, 'closing after an error')
      else app.log.info({ signal }, 'closing')
      if (!err) {
        await app.drain(Math.min(DRAIN_MS, SHUTDOWN_TIMEOUT_MS / 4), SHUTDOWN_TIMEOUT_MS / 2)
      }
      await app.close()
    })
    await app.listen({ host: HOST, port: PORT })
    if (first !== undefined) process.stderr.write(formatCredentials(first))
    return app
  } catch (error) {
    // Its password was never shown.
    first?.discard()
    process.stderr.write(`${describeStartError(error)}\n`)
    process.exit(1)
  }
}
