import type { FastifyPluginAsync } from 'fastify'
import { getAuditAddress } from '../audit/audit-log.js'
import { LINK_PURPOSES, type LinkPurpose } from './account-links.js'
import { hashPassword } from './password.js'
import { parsePasswordForm } from './password-form.js'

interface Route {
  Params: { token: string }
  Body: Record<string, unknown> | undefined
}

/**
 * Pages where people choose a password after opening a link. Opening it changes nothing, because
 * mail scanners also open links.
 */
const pages: FastifyPluginAsync = async (app) => {
  app.addHook('onRequest', (_request, reply, done) => {
    // The URL contains a token.
    reply.header('referrer-policy', 'no-referrer')
    done()
  })

  for (const purpose of Object.keys(LINK_PURPOSES) as LinkPurpose[]) {
    const path = `${LINK_PURPOSES[purpose].path}/:token`
    const options = { config: { public: true } } as const
    const page = 'accounts/choose-password'

    app.get<Route>(path, options, async ({ params }, reply) => {
      const account = await app.accounts.findByLink(purpose, params.token)
      if (account === null) {
        return reply.code(404).renderView({ page: 'accounts/invalid-link' }, { purpose })
      }
      return reply.renderView({ page }, { purpose, account, errors: {} })
    })

    app.post<Route>(path, options, async (request, reply) => {
      const { params, body = {}, log } = request
      const account = await app.accounts.findByLink(purpose, params.token)
      if (account === null) {
        return reply.code(404).renderView({ page: 'accounts/invalid-link' }, { purpose })
      }
      const parsed = await parsePasswordForm(body, account.email)
      if ('errors' in parsed) {
        return reply.code(422).renderView({ page }, { purpose, account, errors: parsed.errors })
      }
      const hash = await app.passwordHashQueue.run(() => hashPassword(parsed.password))
      const address = getAuditAddress(request)
      if (!(await app.accounts.setPasswordByLink(purpose, params.token, { hash, address }))) {
        return reply.code(404).renderView({ page: 'accounts/invalid-link' }, { purpose })
      }
      log.info({ email: account.email, purpose }, 'password set')
      if (purpose === 'password-reset') {
        await app.notifyUser(request, account.email, 'password.changed')
      }
      return reply.redirect('/admin/login?password', 303)
    })
  }
}

export default pages
