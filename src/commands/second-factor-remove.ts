import { deleteSecondFactors } from '../accounts/second-factor/second-factor-store.js'
import { endSessions } from '../accounts/session-store.js'
import { appendAuditEntry } from '../audit/audit-entry.js'
import { openServiceDatabase } from '../database/database-plugin.js'
import { describeError, fail, loadConfig } from './command.js'

const USAGE = `Usage: npm run -s second-factor:remove -- EMAIL

Removes the passkeys, the authenticator app and the recovery codes of an account whose owner has lost
them all, and ends its sessions. After that, the password alone is enough to sign in.`

const email = process.argv[2]?.toLowerCase()
if (email === undefined || process.argv.length > 3) fail(USAGE)
try {
  const database = await openServiceDatabase(await loadConfig())
  const isRemoved = await database.write(async (tx) => {
    if (!(await deleteSecondFactors(tx, email))) return false
    await endSessions(tx, email)
    const by = { actor: 'command line', address: null }
    await appendAuditEntry(tx, { action: 'second_factor.removed', ...by, details: { email } })
    return true
  })
  await database.close()
  if (!isRemoved) fail(`${email} has no second factor.`)
  process.stdout.write(`The second factor of ${email} was removed.\n`)
} catch (error) {
  fail(describeError(error))
}
