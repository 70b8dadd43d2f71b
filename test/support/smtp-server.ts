import { once } from 'node:events'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Test } from 'tap'
import { parseMime, type MimePart } from './mime.js'

export interface ReceivedMail {
  /** The envelope */
  from: string
  recipients: string[]
  /** As sent, UTF-8 */
  raw: string
  /** By name in lower case, unfolded and decoded */
  headers: Map<string, string>
  text: string
  html: string
  parts: MimePart[]
  isEncrypted: boolean
}

/** An SMTP response that rejects a command. */
export const createSmtpError = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode })

export interface TestSmtpServer {
  port: number
  /** Received mails, the oldest first, except notices */
  mails: ReceivedMail[]
  /** Received notices to users about their accounts, the oldest first */
  notices: ReceivedMail[]
  /** Recipients of all attempts */
  attempts: string[]
  /** Passwords of attempts to sign in */
  passwords: string[]
  /** Returns an error to reject a recipient */
  rejectRecipient: (address: string) => Error | null
  /** Returns an error to reject a message */
  rejectData: () => Error | null
  stop: () => Promise<void>
}

/** Starts a mail server on the loopback address, on a free port by default. */
export async function startSmtpServer(
  t: Test,
  options: SMTPServerOptions & { port?: number } = {},
): Promise<TestSmtpServer> {
  const { port = 0, ...others } = options
  const state: Omit<TestSmtpServer, 'port' | 'stop'> = {
    mails: [],
    notices: [],
    attempts: [],
    passwords: [],
    rejectRecipient: () => null,
    rejectData: () => null,
  }
  const server = new SMTPServer({
    logger: false,
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onAuth({ username, password }, _session, done) {
      state.passwords.push(password ?? '')
      done(null, { user: username ?? '' })
    },
    onRcptTo({ address }, _session, done) {
      state.attempts.push(address)
      done(state.rejectRecipient(address))
    },
    onData(stream, { envelope, secure }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const error = state.rejectData()
        if (error === null) {
          const raw = Buffer.concat(chunks).toString()
          const { headers, parts } = parseMime(raw)
          const findText = (type: string) =>
            (parts.find((part) => part.type === type)?.content.toString() ?? '').replaceAll(
              '\r\n',
              '\n',
            )
          const isNotice = headers.get('message-id')?.startsWith('<notice_') ?? false
          state[isNotice ? 'notices' : 'mails'].push({
            from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
            recipients: envelope.rcptTo.map(({ address }) => address),
            raw,
            headers,
            text: findText('text/plain'),
            html: findText('text/html'),
            parts,
            isEncrypted: secure,
          })
        }
        done(error)
      })
    },
    ...others,
  })
  // Ignores the errors of clients that refuse the certificate.
  server.on('error', () => undefined)
  const listener = server.listen(port, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  let stopped: Promise<void> | null = null
  const stop = () =>
    (stopped ??= new Promise((resolve) => {
      server.close(resolve)
    }))
  t.teardown(stop)
  return Object.assign(state, { port: address.port, stop })
}
