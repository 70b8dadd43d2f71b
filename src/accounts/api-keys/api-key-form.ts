import { API_KEY_SCOPE_NAMES, API_KEY_SCOPES } from '../permissions.js'
import { validateNewApiKey, type NewApiKeyRequest } from './new-api-key.js'

const DAY_MS = 24 * 60 * 60 * 1000

/** Choices for the lifetime of a key. */
const LIFETIMES = [
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
  { days: 365, label: 'One year' },
  { days: null, label: 'Never' },
]
const DEFAULT_DAYS = '365'

/** The form of a new key, as opened or as submitted. */
export interface ApiKeyForm {
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

export const buildApiKeyForm = (
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

const toText = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** Parses a submitted form; `value` is `null` if a field is invalid. */
export function parseApiKeyForm(body: Record<string, unknown>): {
  form: ApiKeyForm
  value: NewApiKeyRequest | null
} {
  const values = {
    name: toText(body.name),
    scopes: [body.scopes ?? []].flat().map(toText),
    days: toText(body.days),
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
