import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { appendAuditEntry, hashAuditEntry, type AuditRow } from '../../src/audit/audit-entry.js'
import { createAuditLog } from '../../src/audit/audit-log.js'
import { verifyChain } from '../../src/audit/verify-chain.js'
import type { Database } from '../../src/database/database.js'
import { startDatabases, type OpenPair } from '../support/databases.js'

const BY = { actor: 'ann@example.com', address: '192.0.2.1' }

const append = (database: Database, name: string): Promise<void> =>
  database.write((tx) => appendAuditEntry(tx, { action: 'view.saved', ...BY, details: { name } }))

async function appendMany(database: Database, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await append(database, `View ${i}`)
}

const readRows = (database: Database): Promise<AuditRow[]> =>
  database.query('SELECT * FROM audit_log ORDER BY position')

/** Computes all hashes again, as somebody could who can write to the database. */
async function forge(database: Database): Promise<void> {
  let hash = ''
  let position = 0
  for (const row of await readRows(database)) {
    hash = hashAuditEntry({ ...row, position: ++position }, hash)
    await database.query('UPDATE audit_log SET position = ?, hash = ? WHERE position = ?', [
      position,
      hash,
      row.position,
    ])
  }
  await database.query('UPDATE audit_chain SET head_position = ?, head_hash = ?', [position, hash])
}

const INSERT = `INSERT INTO audit_log
  SELECT ?, at, action, 'eve@example.com', address, details, hash FROM audit_log WHERE position = ?`

/** Manipulations of a log of ten entries, with the position that is reported. */
const MANIPULATIONS: [
  name: string,
  position: number,
  statements: [string, (string | number)[]][],
][] = [
  ['a changed actor', 4, [['UPDATE audit_log SET actor = ? WHERE position = 4', ['eve@x.test']]]],
  ['a changed time', 10, [['UPDATE audit_log SET at = at - 1 WHERE position = 10', []]]],
  ['changed details', 1, [["UPDATE audit_log SET details = '{}' WHERE position = 1", []]]],
  ['a removed address', 7, [['UPDATE audit_log SET address = NULL WHERE position = 7', []]]],
  ['a changed hash', 5, [["UPDATE audit_log SET hash = 'x' WHERE position = 5", []]]],
  ['a deleted entry', 5, [['DELETE FROM audit_log WHERE position = 5', []]]],
  ['a deleted first entry', 1, [['DELETE FROM audit_log WHERE position = 1', []]]],
  ['deleted last entries', 9, [['DELETE FROM audit_log WHERE position > 8', []]]],
  ['no entries', 1, [['DELETE FROM audit_log', []]]],
  [
    'a deleted entry, with later ones moved',
    5,
    [
      ['DELETE FROM audit_log WHERE position = 5', []],
      ...[6, 7, 8, 9, 10].map((position): [string, number[]] => [
        'UPDATE audit_log SET position = position - 1 WHERE position = ?',
        [position],
      ]),
    ],
  ],
  [
    'swapped entries',
    3,
    [
      ['UPDATE audit_log SET position = 100 WHERE position = 3', []],
      ['UPDATE audit_log SET position = 3 WHERE position = 8', []],
      ['UPDATE audit_log SET position = 8 WHERE position = 100', []],
    ],
  ],
  ['an entry before the first', 0, [[INSERT, [0, 1]]]],
  ['an entry after the last', 11, [[INSERT, [11, 10]]]],
]

function testChain(t: Test, open: OpenPair): void {
  t.test('concurrent writers append to one chain without gaps', async (t) => {
    const [first, second] = await open(t)
    await Promise.all([first, second, first, second].map((database) => appendMany(database, 15)))
    await t.rejects(
      first.write(async (tx) => {
        await appendAuditEntry(tx, { action: 'sign_out', ...BY })
        throw new Error('the change failed')
      }),
      /the change failed/,
    )
    await append(second, 'The last')
    t.match(await verifyChain(first), { ok: true, entries: 61, head: { position: 61 } })
  })

  t.test('every manipulation is reported at its position', async (t) => {
    for (const [name, position, statements] of MANIPULATIONS) {
      const [database] = await open(t)
      await appendMany(database, 10)
      t.match(await verifyChain(database), { ok: true, entries: 10 })
      for (const [sql, values] of statements) await database.query(sql, values)
      t.match(await verifyChain(database), { ok: false, position }, name)
    }
  })

  t.test('a forged chain differs from a head that was recorded', async (t) => {
    const [database] = await open(t)
    const log = createAuditLog(database, 'UTC')
    await appendMany(database, 6)
    const head = await log.getHead()
    await appendMany(database, 2)
    t.match(await verifyChain(database, head), { ok: true, head: { position: 8 } })
    await database.query('UPDATE audit_log SET actor = ? WHERE position = 3', ['eve@example.com'])
    await forge(database)
    t.match(await verifyChain(database), { ok: true }, 'cannot be detected without it')
    t.match(await verifyChain(database, head), { ok: false, position: 6 })

    await database.query('DELETE FROM audit_log WHERE position > 4')
    await forge(database)
    t.match(await verifyChain(database), { ok: true, entries: 4 })
    t.match(await verifyChain(database, head), { ok: false, position: 5 })
  })

  t.test('the chain continues from the last entry that expired', async (t) => {
    const [database] = await open(t)
    const log = createAuditLog(database, 'UTC')
    await appendMany(database, 4)
    const old = await log.getHead()
    await append(database, 'Fifth')
    const last = await log.getHead()
    await sleep(10)
    const time = Date.now()
    await appendMany(database, 3)
    t.equal(await log.deleteBefore(time), 5)
    t.equal(await log.deleteBefore(time), 0)
    t.match(await verifyChain(database, old), { ok: false, position: 4 }, 'cannot be compared')
    t.match(await verifyChain(database, last), { ok: true })
    t.match(await verifyChain(database, { ...last, hash: old.hash }), { ok: false, position: 5 })
    t.match(await verifyChain(database), { ok: true, entries: 3 })
    await database.query('DELETE FROM audit_log WHERE position = 6')
    t.match(await verifyChain(database), { ok: false, position: 6 }, 'more was deleted')

    t.equal(await log.deleteBefore(Date.now() + 1), 2)
    t.match(await verifyChain(database), { ok: true, entries: 0, head: { position: 8 } })
    await append(database, 'After')
    t.match(await verifyChain(database), { ok: true, entries: 1, head: { position: 9 } })
  })
}

for (const [name, open] of Object.entries(await startDatabases(t))) {
  t.test(name, async (t) => testChain(t, open))
}
