import { randomUUID } from 'node:crypto'
import { hashPasswordSync } from '../../src/accounts/password.js'
import type { Role } from '../../src/accounts/permissions.js'
import type { TestApp } from './app.js'

/** Password of the accounts that tests create. */
export const PASSWORD = 'three unrelated words'
const PASSWORD_HASH = hashPasswordSync(PASSWORD)

/** Creates an account that can sign in, directly in the database. */
export async function createAccount(
  { app }: Pick<TestApp, 'app'>,
  role: Role,
  email = `${role}@example.com`,
): Promise<{ id: string; email: string; password: string }> {
  const id = randomUUID()
  await app.database.query(
    `INSERT INTO accounts (id, email, role, password_hash, created_by, created_at)
     VALUES (?, ?, ?, ?, 'a test', 0)`,
    [id, email, role, PASSWORD_HASH],
  )
  return { id, email, password: PASSWORD }
}
