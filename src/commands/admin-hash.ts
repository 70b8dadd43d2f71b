import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { hashPassword, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../accounts/password.js'
import { isEmail } from '../validation/email-address.js'

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** A line typed at a terminal, which does not show it. */
async function typedPassword(): Promise<string> {
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  const stop = (): never => fail('\nNo password was given.')
  terminal.once('SIGINT', stop).once('close', stop)
  process.stderr.write('Password (not shown): ')
  const password = await terminal.question('')
  terminal.off('close', stop).close()
  process.stderr.write('\n')
  return password
}

/*
 * Prints the `email:hash` pair of an administrator for ADMIN_ACCOUNTS, and nothing else. The
 * password comes on standard input, so that it stands in no history and no list of processes.
 */
const [email = '', ...rest] = process.argv.slice(2)
if (!isEmail(email) || rest.length > 0) {
  fail('Usage: npm run -s admin:hash -- EMAIL < password')
}
const password = process.stdin.isTTY
  ? await typedPassword()
  : (await text(process.stdin)).replace(/\r?\n$/, '')
if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
  fail(`The password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`)
}
process.stdout.write(`${email.toLowerCase()}:${await hashPassword(password)}\n`)
