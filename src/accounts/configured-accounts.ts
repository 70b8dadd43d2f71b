import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fp from 'fastify-plugin'
import { ConfigError } from '../core/config/config-part.js'
import { describeFileError, readOrCreateFile } from '../core/config/read-or-create-file.js'
import { parseAdminAccounts, type AdminAccount } from './account-config.js'
import { hashPasswordSync, randomPassword } from './password.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Accounts from ADMIN_ACCOUNTS, which are owners; never empty */
    configuredAccounts: readonly [AdminAccount, ...AdminAccount[]]
  }
}

/** The administrator that is created at the first start-up. */
export interface FirstAdministrator {
  email: string
  /** Not stored */
  password: string
  /** Deletes the account, so that the next start creates another one. */
  discard(): void
}

interface Options {
  /** Called when the first administrator is created */
  onFirstAdministrator?: ((account: FirstAdministrator) => void) | undefined
}

const FIRST_EMAIL = 'admin@localhost'
const FILE = 'first-administrator'

/** Reads the `email:hash` pair of the first administrator, or creates the account. */
function readOrCreateFirstAdministrator(
  dataDir: string,
  onCreated: Options['onFirstAdministrator'],
): string {
  const password = randomPassword()
  try {
    const { text, isNew } = readOrCreateFile(
      dataDir,
      FILE,
      () => `${FIRST_EMAIL}:${hashPasswordSync(password)}`,
    )
    if (isNew) {
      const discard = () => rmSync(join(dataDir, FILE), { force: true })
      onCreated?.({ email: FIRST_EMAIL, password, discard })
    }
    return text
  } catch (error) {
    throw new ConfigError([
      `the first administrator cannot be stored in DATA_DIR (${describeFileError(error)})`,
    ])
  }
}

/** The accounts from ADMIN_ACCOUNTS or, if it is not set, a generated first administrator. */
export default fp<Options>(
  async (app, { onFirstAdministrator }) => {
    const { ADMIN_ACCOUNTS, DATA_DIR } = app.config
    const pairs = ADMIN_ACCOUNTS ?? readOrCreateFirstAdministrator(DATA_DIR, onFirstAdministrator)
    const [first, ...others] = parseAdminAccounts(pairs) ?? []
    if (first === undefined) {
      throw new ConfigError([`the file ${FILE} in DATA_DIR is damaged: restore or delete it`])
    }
    app.decorate('configuredAccounts', [first, ...others] as const)
  },
  { name: 'configured-accounts', dependencies: ['config'] },
)
