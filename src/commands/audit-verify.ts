import { parseArgs } from 'node:util'
import type { AuditHead } from '../audit/audit-log.js'
import { verifyChain } from '../audit/verify-chain.js'
import { openServiceDatabase } from '../database/database-plugin.js'
import { describeError, fail, loadConfig } from './command.js'

const USAGE = `Usage: npm run -s audit:verify [-- --head POSITION:HASH]

Verifies the hash chain of the audit log, and prints its head. Exits with 1 if an entry was
changed, removed, inserted or moved. --head: a head that was printed earlier. Anyone who can write
to the database can recompute all hashes; only a head that is stored elsewhere reveals this.`

function readArguments(): AuditHead | undefined {
  let text
  try {
    text = parseArgs({ options: { head: { type: 'string' } } }).values.head
  } catch (error) {
    fail(`${(error as Error).message}\n\n${USAGE}`)
  }
  if (text === undefined) return undefined
  const [, position, hash] = /^([1-9]\d{0,14}):([\da-f]{64})$/.exec(text) ?? []
  if (position === undefined || hash === undefined) fail(USAGE)
  return { position: Number(position), hash }
}

const recorded = readArguments()
try {
  const database = await openServiceDatabase(await loadConfig())
  const check = await database.readSnapshot((tx) => verifyChain(tx, recorded))
  await database.close()
  if (!check.ok) fail(`The audit log is broken at position ${check.position}: ${check.reason}.`)
  const { position, hash } = check.head
  process.stdout.write(
    `The audit log is intact: ${check.entries} ${check.entries === 1 ? 'entry' : 'entries'}.\n` +
      (position === 0 ? '' : `Head: ${position}:${hash}\n`),
  )
} catch (error) {
  fail(describeError(error))
}
