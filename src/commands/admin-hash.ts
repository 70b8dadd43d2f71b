import { text } from 'node:stream/consumers'
import { hash } from '@node-rs/argon2'
import { isEmail } from '../plugins/admin-accounts.js'

const SHORTEST_PASSWORD = 12

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/*
 * Prints the `email:hash` pair of an administrator for ADMIN_ACCOUNTS, and nothing else. The
 * password comes on standard input, so that it stands in no history and no list of processes.
 */
const [email = ''] = process.argv.slice(2)
if (!isEmail(email)) {
  fail('Usage: npm run -s admin:hash -- EMAIL < password')
}
if (process.stdin.isTTY) process.stderr.write('Password, then Enter and Ctrl-D: ')
const password = (await text(process.stdin)).replace(/\r?\n$/, '')
if (password.length < SHORTEST_PASSWORD) {
  fail(`The password must have at least ${SHORTEST_PASSWORD} characters.`)
}
// The package's defaults are Argon2id with what OWASP asks for: 19 MiB, two passes, one lane.
process.stdout.write(`${email.toLowerCase()}:${await hash(password)}\n`)
