/** The scopes of API keys, and what each scope permits. */
export const API_KEY_SCOPES = {
  'qr:write': 'Create QR codes',
  'orders:read': 'Read orders and their history',
  'orders:write': 'Create, change and cancel orders',
  'orders:settle':
    'With orders:write: mark orders as paid, processing, fulfilled or refunded, and change the amount and CO₂e of guests’ orders',
  'orders:export': 'Export orders',
  'stats:read': 'Read statistics',
  'provider:read': 'Read from the order source',
  'provider:write': 'Write to the order source, which can spend money',
  'webhooks:manage': 'Manage webhooks; with orders:read, also webhooks for orders',
} as const
export type ApiKeyScope = keyof typeof API_KEY_SCOPES

export const API_KEY_SCOPE_NAMES = Object.keys(API_KEY_SCOPES) as ApiKeyScope[]

/**
 * The roles of users, from the most to the fewest permissions. The roles are stored, so never
 * rename one.
 */
export const ROLES = ['owner', 'manager', 'operator', 'viewer'] as const
export type Role = (typeof ROLES)[number]

export const ROLE_LABELS: Record<Role, string> = {
  owner: 'Owner',
  manager: 'Manager',
  operator: 'Operator',
  viewer: 'Viewer',
}

/** What each role is for. */
export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: 'Everything, including people, API keys, webhooks and the erasure of personal data',
  manager: 'Orders, payments, refunds, fulfilment, exports and sent emails',
  operator: 'QR codes, and creating and editing orders; no exports, payments or refunds',
  viewer: 'Reads orders and statistics',
}

/**
 * The permission table: the lowest role that has each permission. Every role also has the
 * permissions of the roles below it. Each guarded route declares the permission that it requires as
 * `config.permission`.
 */
const LOWEST_ROLES = {
  'account:own': 'viewer',
  'orders:read': 'viewer',
  'stats:read': 'viewer',
  'provider:read': 'viewer',
  'qr:write': 'operator',
  /** Create, edit and cancel orders, and reopen cancelled ones */
  'orders:write': 'operator',
  'orders:export': 'manager',
  /**
   * Record payments, refunds and fulfilment; refund payments; place orders with the provider; change
   * what a guest agreed to
   */
  'orders:settle': 'manager',
  'provider:write': 'manager',
  /** Sent emails, and events that could not be processed */
  'mail:manage': 'manager',
  'accounts:manage': 'owner',
  'api-keys:manage': 'owner',
  'webhooks:manage': 'owner',
  'audit-log:read': 'owner',
  'personal-data:erase': 'owner',
} as const satisfies Record<ApiKeyScope, Role> & Record<string, Role>
export type Permission = keyof typeof LOWEST_ROLES

/** Permissions for which state-changing requests require a recent sign-in. */
export const SENSITIVE_PERMISSIONS: ReadonlySet<Permission> = new Set<Permission>([
  'accounts:manage',
  'api-keys:manage',
  'webhooks:manage',
  'personal-data:erase',
  'provider:write',
])

/** Whether a role has a permission. */
export const hasPermission = (role: Role, permission: Permission): boolean =>
  ROLES.indexOf(role) <= ROLES.indexOf(LOWEST_ROLES[permission])

/** Returns the API key scope that includes a permission; `undefined` if it is for users only. */
export const toApiKeyScope = (permission: Permission | undefined): ApiKeyScope | undefined =>
  API_KEY_SCOPE_NAMES.find((scope) => scope === permission)

/** Whether the scopes of an API key include a permission. */
export const hasScope = (scopes: readonly ApiKeyScope[], permission: Permission): boolean =>
  scopes.some((scope) => scope === toApiKeyScope(permission))
