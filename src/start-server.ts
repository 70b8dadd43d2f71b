import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { buildApp } from './app.js'
import { BookError } from './database/open-database.js'
import type { FirstAdministrator } from './plugins/accounts.js'
import { ConfigError } from './config/config.js'

/** What an operator can mend gets a plain message; anything else is a fault of ours, with its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (error instanceof BookError) return `Clearwake cannot start: ${error.message}`
  if (error instanceof Error && 'code' in error) {
    if (error.code === 'EADDRINUSE') return 'Clearwake cannot start: the port is taken (PORT).'
    if (error.code === 'EACCES' && 'syscall' in error && error.syscall === 'listen')
      return 'Clearwake cannot start: it may not listen there (HOST, PORT).'
    if (error.code === 'EADDRNOTAVAIL') {
      return 'Clearwake cannot start: this machine has no such address (HOST).'
    }
  }
  return `Clearwake cannot start:\n${error instanceof Error ? error.stack : String(error)}`
}

/** What the operator must see, and no log may have. */
const introduction = ({ email, password }: FirstAdministrator): string => `
Clearwake has made a first administrator. The password is shown this once:

  e-mail    ${email}
  password  ${password}

`

/**
 * Standard output, written to while requests go on, so that a reader of the log who stands still
 * holds up nobody; what it has not taken by then is left out. Entries of a busy moment go together,
 * and the end of the process writes what is left.
 */
const logStream = () =>
  pino.destination({
    sync: false,
    maxLength: 16 * 1024 * 1024,
    minLength: 8 * 1024,
    periodicFlush: 100,
  })

/**
 * Faults of the processor, such as a mapped file whose disk fails: with a listener, the instruction
 * would be run again without end, where the process must end so that it is started anew.
 */
const FATAL = ['SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'] satisfies NodeJS.Signals[]

/** Long enough for clients that ask at once again to hear that they should go elsewhere. */
const DRAIN_MS = 500

/**
 * Starts the service and ends it with grace: on SIGTERM and SIGINT no new requests are taken,
 * those under way finish. Ends the process with 1 and a message where it cannot start.
 */
export async function startServer(environment: NodeJS.ProcessEnv): Promise<FastifyInstance> {
  try {
    const app = await buildApp({
      environment,
      logStream: logStream(),
      showFirstAdministrator: (made) => process.stderr.write(introduction(made)),
    })
    const { HOST, PORT, SHUTDOWN_TIMEOUT_MS } = app.config
    const closing = { delay: SHUTDOWN_TIMEOUT_MS, logger: app.log, skip: FATAL }
    closeWithGrace(closing, async ({ err, signal }) => {
      if (err) app.log.fatal({ err }, 'closing after an error')
      else app.log.info({ signal }, 'closing')
      if (!err) await app.drain(Math.min(DRAIN_MS, SHUTDOWN_TIMEOUT_MS / 4))
      await app.close()
    })
    await app.listen({ host: HOST, port: PORT })
    return app
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`)
    process.exit(1)
  }
}
