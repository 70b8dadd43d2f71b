import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { findPasswordError } from '../accounts/password-rules.js'
import { hashPassword } from '../accounts/password.js'
import { isEmail } from '../core/validation/email-address.js'

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** Reads a password from the terminal without showing it. */
async function promptPassword(): Promise<string> {
  const discard = new Writable({ write: (_part, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: discard, terminal: true })
  const stop = (): never => fail('\nEnter a password.')
  terminal.once('SIGINT', stop).once('close', stop)
  process.stderr.write('Password (hidden): ')
  const password = await terminal.question('')
  terminal.off('close', stop).close()
  process.stderr.write('\n')
  return password
}

/*
 * Prints an `email:hash` pair for ADMIN_ACCOUNTS. The password is read from standard input, so that it
 * appears neither in the shell history nor in the process list.
 */
const [email = '', ...rest] = process.argv.slice(2)
if (!isEmail(email) || rest.length > 0) {
  fail('Usage: npm run -s admin:hash -- EMAIL < password')
}
const password = process.stdin.isTTY
  ? await promptPassword()
  : (await text(process.stdin)).replace(/\r?\n$/, '')
const error = await findPasswordError(password, email)
if (error !== null) fail(`The password ${error}.`)
process.stdout.write(`${email.toLowerCase()}:${await hashPassword(password)}\n`)
