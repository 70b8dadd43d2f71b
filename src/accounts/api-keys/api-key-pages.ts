import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { getAuditActor } from '../../audit/audit-log.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { getRequestFormatters } from '../../core/http/locale.js'
import { Problem } from '../../core/http/problem.js'
import { DAY_MS } from '../../core/time.js'
import { toTrimmedText } from '../../core/validation/text-rules.js'
import { API_KEY_SCOPE_NAMES, API_KEY_SCOPES } from '../permissions.js'
import { isActive, validateNewApiKey, type ApiKey, type NewApiKeyRequest } from './api-key-store.js'

/** Choices for the lifetime of a key. */
const LIFETIMES = [
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
  { days: 365, label: 'One year' },
  { days: null, label: 'Never' },
]
const DEFAULT_DAYS = '365'

/** The form of a new key, as opened or as submitted. */
interface ApiKeyForm {
  name: string
  scopes: { name: string; description: string; isChecked: boolean }[]
  lifetimes: { value: string; label: string; isSelected: boolean }[]
  errors: Partial<Record<'name' | 'scopes' | 'days', string>>
}

interface FormValues {
  name: string
  scopes: readonly string[]
  days: string
}

const buildApiKeyForm = (
  { name, scopes, days }: FormValues = { name: '', scopes: [], days: DEFAULT_DAYS },
  errors: ApiKeyForm['errors'] = {},
): ApiKeyForm => ({
  name,
  scopes: API_KEY_SCOPE_NAMES.map((scope) => ({
    name: scope,
    description: API_KEY_SCOPES[scope],
    isChecked: scopes.includes(scope),
  })),
  lifetimes: LIFETIMES.map(({ days: lifetime, label }) => {
    const value = lifetime === null ? '' : String(lifetime)
    return { value, label, isSelected: value === days }
  }),
  errors,
})

/** Parses a submitted form; `value` is `null` if a field is invalid. */
function parseApiKeyForm(body: Record<string, unknown>): {
  form: ApiKeyForm
  value: NewApiKeyRequest | null
} {
  const values = {
    name: toTrimmedText(body.name),
    scopes: [body.scopes ?? []].flat().map(toTrimmedText),
    days: toTrimmedText(body.days),
  }
  const lifetime = LIFETIMES.find(({ days }) => (days === null ? '' : String(days)) === values.days)
  const days = lifetime?.days ?? null
  const result = validateNewApiKey({
    name: values.name,
    scopes: values.scopes,
    expiresAt: days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
  })
  if (result.ok && lifetime !== undefined) {
    return { form: buildApiKeyForm(values), value: result.value }
  }
  const errors: ApiKeyForm['errors'] = lifetime === undefined ? { days: 'choose an expiry' } : {}
  for (const { path, message } of result.ok ? [] : result.errors) {
    if (path === 'name') errors.name = values.name === '' ? 'enter a name' : message
    else errors.scopes = 'choose at least one'
  }
  return { form: buildApiKeyForm(values, errors), value: null }
}

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
  app.settings.addPage({ href: API_KEYS_URL, label: 'API keys', permission: 'api-keys:manage' })

  async function renderList(reply: FastifyReply, newKey?: string) {
    const format = getRequestFormatters(reply.request)
    const keys = await app.apiKeys.list()
    const isRevoked = newKey === undefined && reply.consumeFlash()?.code === REVOKED
    return reply.renderSettings(
      { page: 'accounts/api-keys' },
      {
        success: isRevoked ? { text: 'The key was revoked.' } : null,
        keys: keys.map((key) => buildApiKeyView(key, format)),
        newKey,
      },
    )
  }

  const renderForm = (reply: FastifyReply, form: ApiKeyForm) =>
    reply.renderSettings({ page: 'accounts/api-key-form' }, { form })

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
    request.log.info({ apiKey: id, by: request.actor }, 'API key created')
    // Not a redirect, because the key is shown only now and is not stored.
    return renderList(reply.code(201), key)
  })

  app.get<Route>(`${API_KEYS_URL}/:id/revoke`, MANAGE, async (request, reply) => {
    const key = buildApiKeyView(await findActive(request.params.id), getRequestFormatters(request))
    return reply.renderSettings({ page: 'accounts/api-key-revoke' }, { key })
  })

  app.post<Route>(`${API_KEYS_URL}/:id/revoke`, MANAGE, async (request, reply) => {
    const { id } = request.params
    const isFound = await app.apiKeys.revoke(id, getAuditActor(request))
    if (!isFound) throw new Problem(404, 'This API key does not exist.')
    request.log.info({ apiKey: id, by: request.actor }, 'API key revoked')
    reply.setFlash({ code: REVOKED })
    return reply.redirect(API_KEYS_URL, 303)
  })
}

export default pages
