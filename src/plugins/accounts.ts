import fp from 'fastify-plugin'
import { parseAdminAccounts, type AdminAccount } from '../config/admin-accounts.js'
import { ConfigError } from '../config/config.js'
import { describeFileError } from '../config/describe-file-error.js'
import { readOrCreateFile } from '../config/read-or-create-file.js'
import { hashPasswordSync, randomPassword } from '../accounts/password.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Who may log in; never empty */
    accounts: readonly [AdminAccount, ...AdminAccount[]]
    /** The account by an e-mail address in any case */
    accountOf: (email: string) => AdminAccount | undefined
  }
}

/** An administrator made at this start, and known to nobody until it is shown. */
export interface FirstAdministrator {
  email: string
  password: string
}

interface Options {
  /** Shows a first administrator at once: whatever fails later, it is kept and never told again */
  showFirstAdministrator?: ((made: FirstAdministrator) => void) | undefined
}

const FIRST_EMAIL = 'admin@localhost'
const FILE = 'first-administrator'

/** The pair of the first administrator, made and shown where there is none. */
function firstAdministrator(dataDir: string, show: Options['showFirstAdministrator']): string {
  const password = randomPassword()
  try {
    const { text, isNew } = readOrCreateFile(
      dataDir,
      FILE,
      () => `${FIRST_EMAIL}:${hashPasswordSync(password)}`,
    )
    if (isNew) show?.({ email: FIRST_EMAIL, password })
    return text
  } catch (error) {
    throw new ConfigError([
      `DATA_DIR cannot hold the first administrator (${describeFileError(error)})`,
    ])
  }
}

/** The administrators of ADMIN_ACCOUNTS, or a first one that is made where none are named. */
export default fp<Options>(
  async (app, { showFirstAdministrator }) => {
    const { ADMIN_ACCOUNTS, DATA_DIR } = app.config
    const pairs = ADMIN_ACCOUNTS ?? firstAdministrator(DATA_DIR, showFirstAdministrator)
    const [first, ...others] = parseAdminAccounts(pairs) ?? []
    if (first === undefined) {
      throw new ConfigError([`DATA_DIR holds a damaged file ${FILE}: restore or remove it`])
    }
    const accounts = [first, ...others] as const
    const byEmail = new Map(accounts.map((account) => [account.email, account]))
    app.decorate('accounts', accounts)
    app.decorate('accountOf', (email) => byEmail.get(email.toLowerCase()))
  },
  { name: 'accounts', dependencies: ['config'] },
)
