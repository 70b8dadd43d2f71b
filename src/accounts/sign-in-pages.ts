import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import adminPages from '../plugins/admin-pages.js'
import { toSafeRedirectPath } from '../http/safe-redirect-path.js'
import { Problem } from '../http/problem.js'
import { checker } from '../validation/validator.js'
import { Credentials } from './credentials.js'
import type { SignIn } from './sign-in.js'

type Fields = Record<string, unknown>

interface LoginView {
  to: string
  email: string
  /** What is wrong with a field, or with the whole attempt */
  errors: { email?: string; password?: string; attempt?: string }
  /** Why there is no session any more, where that is known */
  over: 'logged out' | 'ended' | null
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const overBy = ({ out, ended }: Fields): LoginView['over'] =>
  out !== undefined ? 'logged out' : ended !== undefined ? 'ended' : null

const check = checker(Credentials)

const show = (reply: FastifyReply, view: LoginView) =>
  reply.hypermedia({ page: 'accounts/sign-in' }, view)

/** The form, with the reason why it is shown again. */
const showRefusal = (
  reply: FastifyReply,
  { statusCode, headers, message }: Problem,
  view: Omit<LoginView, 'errors'>,
) => show(reply.code(statusCode).headers(headers), { ...view, errors: { attempt: message } })

const pages: FastifyPluginAsync<{ login: SignIn }> = async (app, { login }) => {
  await app.register(adminPages)

  // How well these answers compress would tell of the token that goes along (BREACH).
  const open = { config: { openToAll: true }, compress: false } as const

  app.get<{ Querystring: Fields }>('/admin/login', open, async (request, reply) => {
    const to = toSafeRedirectPath(request.query.to)
    const isLoggedIn = await app.requireAdministrator.call(app, request, reply).then(
      () => true,
      () => false,
    )
    if (isLoggedIn) return reply.redirect(to, 303)
    return show(reply, { to, email: '', errors: {}, over: overBy(request.query) })
  })

  app.post<{ Body: Fields | undefined }>('/admin/login', open, async (request, reply) => {
    const { to: given, email, password } = request.body ?? {}
    const view = {
      to: toSafeRedirectPath(given),
      email: text(email).trim(),
      errors: {},
      over: null,
    }
    const checked = check({ email: view.email, password: text(password) })
    if (!checked.ok) {
      const errors = Object.fromEntries(
        checked.errors.map(({ path, message }) => [
          path,
          text(path === 'email' ? email : password) === '' ? 'must be filled in' : message,
        ]),
      )
      return show(reply.code(422), { ...view, errors })
    }
    try {
      await login(request, reply, checked.value)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return showRefusal(reply, error, view)
    }
    return reply.redirect(view.to, 303)
  })

  app.post('/admin/logout', async (_request, reply) => {
    try {
      await reply.endSession()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return showRefusal(reply, error, { to: toSafeRedirectPath(undefined), email: '', over: null })
    }
    return reply.redirect('/admin/login?out', 303)
  })
}

export default pages
