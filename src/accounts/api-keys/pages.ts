import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { getAuditActor } from '../../audit/audit-log.js'
import { getLocale } from '../../core/http/locale.js'
import { Problem } from '../../core/http/problem.js'
import { isActive, type ApiKey } from './api-key-store.js'
import adminPages from '../admin-pages.js'
import { getFormatters, type Formatters } from '../../core/formatting/formatters.js'
import { buildApiKeyForm, parseApiKeyForm, type ApiKeyForm } from './api-key-form.js'

const MANAGE = { config: { permission: 'api-keys:manage' } } as const
/** Requires a recent sign-in before a form opens, because a later sign-in would lose the input. */
const FORM = { config: { ...MANAGE.config, recentSignIn: true } } as const
// Not compressed, because the size of a compressed response can reveal the key in it (BREACH).
const SHOW_KEY = { ...MANAGE, compress: false } as const

interface Route {
  Params: { id: string }
  Body: Record<string, unknown> | undefined
}

const API_KEYS_URL = '/admin/settings/api-keys'
const REVOKED = 'api-key-revoked'

function getState(key: ApiKey) {
  if (key.revokedAt !== null) return { className: 'cancelled', label: 'Revoked' }
  if (!isActive(key)) return { className: 'cancelled', label: 'Expired' }
  return { className: 'fulfilled', label: 'Active' }
}

const buildApiKeyView = (key: ApiKey, format: Formatters) => ({
  name: key.name,
  hint: key.hint,
  scopes: key.scopes,
  state: getState(key),
  created: { by: key.createdBy, at: format.date(key.createdAt) },
  lastUsed: key.lastUsedAt === null ? null : format.dateTime(key.lastUsedAt),
  expires: key.expiresAt === null ? null : format.date(key.expiresAt),
  revokeUrl: isActive(key) ? `${API_KEYS_URL}/${key.id}/revoke` : null,
})

/** Settings: API keys. */
const pages: FastifyPluginAsync = async (app) => {
  await app.register(adminPages)
  app.settings.addPage({ href: API_KEYS_URL, label: 'API keys', permission: 'api-keys:manage' })

  const getRequestFormatters = ({ headers }: FastifyRequest) =>
    getFormatters(getLocale(headers['accept-language']), app.config.TIME_ZONE)

  async function renderList(reply: FastifyReply, newKey?: string) {
    const format = getRequestFormatters(reply.request)
    const keys = await app.apiKeys.list()
    const isRevoked = newKey === undefined && reply.consumeFlash()?.code === REVOKED
    return reply.renderSettings(
      { page: 'portal/settings/api-keys' },
      {
        success: isRevoked ? { text: 'The key was revoked.' } : null,
        keys: keys.map((key) => buildApiKeyView(key, format)),
        newKey,
      },
    )
  }

  const renderForm = (reply: FastifyReply, form: ApiKeyForm) =>
    reply.renderSettings({ page: 'portal/settings/api-key-form' }, { form })

  async function findActive(id: string): Promise<ApiKey> {
    const key = (await app.apiKeys.list()).find((each) => each.id === id)
    if (key === undefined || !isActive(key)) throw new Problem(404, 'This API key does not exist.')
    return key
  }

  app.get(API_KEYS_URL, MANAGE, async (_request, reply) => renderList(reply))

  app.get(`${API_KEYS_URL}/new`, FORM, async (_request, reply) =>
    renderForm(reply, buildApiKeyForm()),
  )

  app.post<Route>(API_KEYS_URL, SHOW_KEY, async (request, reply) => {
    const { form, value } = parseApiKeyForm(request.body ?? {})
    if (value === null) return renderForm(reply.code(422), form)
    const { id, key } = await app.apiKeys.create(value, getAuditActor(request))
    request.log.info({ apiKey: id, by: request.administrator.email }, 'API key created')
    // Not a redirect, because the key is shown only now and is not stored.
    return renderList(reply.code(201), key)
  })

  app.get<Route>(`${API_KEYS_URL}/:id/revoke`, MANAGE, async (request, reply) => {
    const key = buildApiKeyView(await findActive(request.params.id), getRequestFormatters(request))
    return reply.renderSettings({ page: 'portal/settings/api-key-revoke' }, { key })
  })

  app.post<Route>(`${API_KEYS_URL}/:id/revoke`, MANAGE, async (request, reply) => {
    const { id } = request.params
    const isFound = await app.apiKeys.revoke(id, getAuditActor(request))
    if (!isFound) throw new Problem(404, 'This API key does not exist.')
    request.log.info({ apiKey: id, by: request.administrator.email }, 'API key revoked')
    reply.setFlash({ code: REVOKED, orderId: '' })
    return reply.redirect(API_KEYS_URL, 303)
  })
}

export default pages
