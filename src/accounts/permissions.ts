/** The scopes of API keys, with what each permits. Routes declare theirs as `config.permission`. */
export const API_KEY_SCOPES = {
  'qr:write': 'Create QR codes',
  'orders:read': 'Read orders and their history',
  'orders:write': 'Create, change and cancel orders',
  'orders:export': 'Export orders',
  'stats:read': 'Read statistics',
  'provider:read': 'Read from the order source',
  'provider:write': 'Write to the order source, which can spend money',
  'webhooks:manage': 'Manage webhooks',
} as const
export type ApiKeyScope = keyof typeof API_KEY_SCOPES

export const API_KEY_SCOPE_NAMES = Object.keys(API_KEY_SCOPES) as ApiKeyScope[]
