import { Type, type Static } from '@sinclair/typebox'
import { API_KEY_SCOPE_NAMES, type ApiKeyScope } from '../permissions.js'
import { stringEnum } from '../../core/validation/string-enum.js'
import { textLine } from '../../core/validation/text-rules.js'
import { checker, type ValidationResult } from '../../core/validation/validator.js'

export const Scope = stringEnum<ApiKeyScope>(API_KEY_SCOPE_NAMES)

export const NewApiKeyRequest = Type.Object(
  {
    name: textLine({
      maxLength: 80,
      description: 'What the key is for; shown in the history of the orders that it changes',
    }),
    scopes: Type.Array(Scope, {
      minItems: 1,
      uniqueItems: true,
      description: 'What the key can do',
    }),
    expiresAt: Type.Optional(
      Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'When the key expires; if omitted or null, it does not expire',
      }),
    ),
  },
  {
    title: 'New API key',
    additionalProperties: false,
    examples: [{ name: 'Web shop', scopes: ['orders:read', 'orders:write'] }],
  },
)
export type NewApiKeyRequest = Static<typeof NewApiKeyRequest>

const validate = checker(NewApiKeyRequest)

/** Validates a key to create, and lists every error. */
export function validateNewApiKey(value: unknown): ValidationResult<NewApiKeyRequest> {
  const result = validate(value)
  if (!result.ok || result.value.expiresAt == null) return result
  return Date.parse(result.value.expiresAt) > Date.now()
    ? result
    : { ok: false, errors: [{ path: 'expiresAt', message: 'must be in the future' }] }
}
