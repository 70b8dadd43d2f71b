import type { FastifyPluginAsync } from 'fastify'
import type { AccountMail } from './account-mail.js'
import accountRoutes from './account-routes.js'
import forgotPasswordPages from './forgot-password-pages.js'
import linkPages from './link-pages.js'

/** The API for accounts, and the pages where people set their own password. */
const accountManagement: FastifyPluginAsync<{ mail: AccountMail }> = async (app, { mail }) => {
  await app.register(accountRoutes, { mail })
  await app.register(linkPages)
  await app.register(forgotPasswordPages, { mail })
}

export default accountManagement
