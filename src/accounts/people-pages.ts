import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Formatters } from '../core/formatting/portal-formatters.js'
import { getRequestFormatters } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import { checker } from '../core/validation/field-errors.js'
import { toTrimmedText } from '../core/validation/text-rules.js'
import {
  changeAccount,
  createDuplicateProblem,
  deleteAccount,
  inviteAccount,
  removeSecondFactor,
} from './account-actions.js'
import { getLinkPath } from './account-links.js'
import { NewAccount, type AccountState, type ManagedAccount } from './account-schemas.js'
import { ROLE_DESCRIPTIONS, ROLE_LABELS, ROLES } from './permissions.js'
import { getUser } from './session.js'

interface Route {
  Params: { id: string }
  Body: Record<string, unknown> | undefined
}

const MANAGE = { config: { permission: 'accounts:manage' } } as const
/** Requires a recent sign-in before a form opens, because a later sign-in would lose the input. */
const FORM = { config: { ...MANAGE.config, recentSignIn: true } } as const
// Not compressed, because the size of a compressed response can reveal the token in it (BREACH).
const MANAGE_LINKS = { ...MANAGE, compress: false } as const

const PEOPLE_URL = '/admin/settings/people'

const STATES: Record<AccountState, { className: string; label: string }> = {
  active: { className: 'fulfilled', label: 'Active' },
  invited: { className: 'pending', label: 'Invited' },
  disabled: { className: 'cancelled', label: 'Disabled' },
}

/** Flash messages, by code. */
const SUCCESS = {
  'account-changed': 'The role was changed.',
  'account-disabled': 'The account was disabled.',
  'account-enabled': 'The account was enabled.',
  'second-factor-removed': 'The second factor was removed.',
  'account-deleted': 'The account was deleted.',
}

interface InviteForm {
  email: string
  role: string
  errors: { email?: string; role?: string }
}

interface NewLink {
  email: string
  url: string
  isInvitation: boolean
  isSent: boolean
}

const EMPTY_FORM: InviteForm = { email: '', role: 'viewer', errors: {} }

const buildRoleChoices = (selected: string) =>
  ROLES.map((name) => ({
    name,
    label: ROLE_LABELS[name],
    description: ROLE_DESCRIPTIONS[name],
    isSelected: name === selected,
  }))

const buildPersonView = (account: ManagedAccount, current: string, format: Formatters) => {
  const { id, email, role, state, createdBy, createdAt } = account
  const isConfigured = account.source === 'configuration'
  const path = `${PEOPLE_URL}/${id}`
  const canChange = !isConfigured && email !== current
  return {
    email,
    role: ROLE_LABELS[role],
    state: STATES[state],
    isSelf: email === current,
    hasSecondFactor: account.hasSecondFactor,
    isConfigured,
    created: createdAt === null ? null : { by: createdBy, at: format.date(createdAt) },
    roles: buildRoleChoices(role),
    /** URLs of the forms for the possible changes */
    actions: canChange
      ? {
          role: `${path}/role`,
          toggle:
            state === 'disabled'
              ? { url: `${path}/enable`, label: 'Enable' }
              : { url: `${path}/disable`, label: 'Disable' },
          link:
            state === 'disabled'
              ? null
              : {
                  url: `${path}/link`,
                  label: state === 'invited' ? 'New invitation link' : 'Create reset link',
                },
          secondFactor: account.hasSecondFactor ? `${path}/second-factor/remove` : null,
          delete: `${path}/delete`,
        }
      : null,
  }
}

const validate = checker(NewAccount)

function parseInviteForm(body: Record<string, unknown>): {
  form: InviteForm
  value: NewAccount | null
} {
  const given = { email: toTrimmedText(body.email), role: toTrimmedText(body.role) }
  const result = validate({ ...given, email: given.email.toLowerCase() })
  if (result.ok) return { form: { ...given, errors: {} }, value: result.value }
  const errors: InviteForm['errors'] = {}
  for (const { path, message } of result.errors) {
    if (path === 'email') errors.email = given.email === '' ? 'enter an email address' : message
    else errors.role = 'choose a role'
  }
  return { form: { ...given, errors }, value: null }
}

/** Settings: the people who can sign in. */
const pages: FastifyPluginAsync = async (app) => {
  const { accountMail: mail } = app
  app.settings.addPage({ href: PEOPLE_URL, label: 'People', permission: 'accounts:manage' })

  const renderInvitation = (reply: FastifyReply, form: InviteForm) =>
    reply.renderSettings(
      { page: 'accounts/person-invite' },
      {
        form,
        roles: buildRoleChoices(form.role).toReversed(),
        sendsMail: mail.isConfigured,
      },
    )

  async function renderList(reply: FastifyReply, newLink: NewLink | null = null) {
    const { email } = getUser(reply.request)
    const format = getRequestFormatters(reply.request)
    const accounts = await app.accounts.list()
    return reply.renderSettings(
      { page: 'accounts/people' },
      {
        people: accounts.map((account) => buildPersonView(account, email, format)),
        newLink,
        success: reply.consumeFlashText(SUCCESS),
      },
    )
  }

  async function findAccount({ params }: FastifyRequest<Route>): Promise<ManagedAccount> {
    const account = await app.accounts.get(params.id)
    if (account === null) throw new Problem(404, 'Account not found.')
    return account
  }

  function redirect(reply: FastifyReply, code: string) {
    reply.setFlash({ code })
    return reply.redirect(PEOPLE_URL, 303)
  }

  app.get(PEOPLE_URL, MANAGE, async (_request, reply) => renderList(reply))

  app.get(`${PEOPLE_URL}/invite`, FORM, async (_request, reply) =>
    renderInvitation(reply, EMPTY_FORM),
  )

  app.post<Route>(PEOPLE_URL, MANAGE_LINKS, async (request, reply) => {
    const { form, value } = parseInviteForm(request.body ?? {})
    if (value === null) return renderInvitation(reply.code(422), form)
    const created = await inviteAccount(request, value)
    if (created === null) {
      const { message } = createDuplicateProblem(value.email)
      return renderInvitation(reply.code(409), { ...form, errors: { email: message } })
    }
    return renderList(reply, {
      email: created.account.email,
      url: created.inviteUrl,
      isInvitation: true,
      isSent: mail.isConfigured,
    })
  })

  app.post<Route>(`${PEOPLE_URL}/:id/role`, MANAGE, async (request, reply) => {
    const role = ROLES.find((name) => name === request.body?.role)
    if (role === undefined) throw new Problem(422, 'Choose a role.')
    await changeAccount(request, request.params.id, { role })
    return redirect(reply, 'account-changed')
  })

  for (const [action, disabled] of [
    ['enable', false],
    ['disable', true],
  ] as const) {
    app.post<Route>(`${PEOPLE_URL}/:id/${action}`, MANAGE, async (request, reply) => {
      await changeAccount(request, request.params.id, { disabled })
      return redirect(reply, `account-${action}d`)
    })
  }

  app.post<Route>(`${PEOPLE_URL}/:id/link`, MANAGE_LINKS, async (request, reply) => {
    const { id, email, state } = await findAccount(request)
    const purpose = state === 'invited' ? 'invitation' : 'password-reset'
    const token = await app.accounts.createLink(id, purpose)
    if (token === null) throw new Problem(409, 'The password of this account cannot be reset here.')
    request.log.info({ account: id, purpose, by: request.actor }, 'link created')
    const details = { id, email, purpose }
    await app.auditLog.record(request, { action: 'account.link_created', details })
    const url = app.publicBaseUrl() + getLinkPath(purpose, token)
    return renderList(reply, { email, url, isInvitation: purpose === 'invitation', isSent: false })
  })

  app.post<Route>(`${PEOPLE_URL}/:id/second-factor/remove`, MANAGE, async (request, reply) => {
    await removeSecondFactor(request, request.params.id)
    return redirect(reply, 'second-factor-removed')
  })

  app.get<Route>(`${PEOPLE_URL}/:id/delete`, FORM, async (request, reply) => {
    const account = await findAccount(request)
    const format = getRequestFormatters(request)
    const person = buildPersonView(account, getUser(request).email, format)
    if (person.actions === null) return reply.redirect(PEOPLE_URL, 303)
    return reply.renderSettings({ page: 'accounts/person-delete' }, { person })
  })

  app.post<Route>(`${PEOPLE_URL}/:id/delete`, MANAGE, async (request, reply) => {
    await deleteAccount(request, request.params.id)
    return redirect(reply, 'account-deleted')
  })
}

export default pages
