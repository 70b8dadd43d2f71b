import fp from 'fastify-plugin'
import { parseAdminAccounts, type AdminAccount } from './admin-accounts.js'
import { ConfigError } from './config.js'
import { keptText } from './kept-text.js'
import { hashPasswordSync, randomPassword } from './password.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Who may log in; never empty */
    accounts: readonly [AdminAccount, ...AdminAccount[]]
    /** The account by an e-mail address in any case */
    accountOf: (email: string) => AdminAccount | undefined
    /** Made at this start, and known to nobody until it is shown */
    firstAdministrator: { email: string; password: string } | null
  }
}

const FIRST_EMAIL = 'admin@localhost'
const FILE = 'first-administrator'

function firstAdministrator(dataDir: string): { pair: string; password: string | null } {
  const password = randomPassword()
  try {
    const { text, isNew } = keptText(
      dataDir,
      FILE,
      () => `${FIRST_EMAIL}:${hashPasswordSync(password)}`,
    )
    return { pair: text, password: isNew ? password : null }
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new ConfigError([`DATA_DIR cannot hold the first administrator (${reason})`])
  }
}

/** The administrators of ADMIN_ACCOUNTS, or a first one that is made where none are named. */
export default fp(
  async (app) => {
    const { ADMIN_ACCOUNTS, DATA_DIR } = app.config
    const made =
      ADMIN_ACCOUNTS === undefined ? firstAdministrator(DATA_DIR) : { pair: ADMIN_ACCOUNTS }
    const [first, ...others] = parseAdminAccounts(made.pair) ?? []
    if (first === undefined) {
      throw new ConfigError([`DATA_DIR holds a damaged file ${FILE}: restore or remove it`])
    }
    const accounts = [first, ...others] as const
    const byEmail = new Map(accounts.map((account) => [account.email, account]))
    app.decorate('accounts', accounts)
    app.decorate('accountOf', (email) => byEmail.get(email.toLowerCase()))
    app.decorate(
      'firstAdministrator',
      'password' in made && made.password !== null
        ? { email: first.email, password: made.password }
        : null,
    )
  },
  { name: 'accounts', dependencies: ['config'] },
)
