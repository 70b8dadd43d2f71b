/** The pages of the settings, in the order of their navigation. */
export const SETTINGS_SECTIONS = [
  { href: '/admin/settings/api-keys', label: 'API keys' },
  { href: '/admin/settings/webhooks', label: 'Webhooks' },
  { href: '/admin/settings/email', label: 'Email' },
  { href: '/admin/settings/audit-log', label: 'Audit log' },
] as const satisfies readonly { href: string; label: string }[]
