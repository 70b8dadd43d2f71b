import type { Permission } from '../../accounts/permissions.js'

/** The pages of the settings, in the order of their navigation. */
export const SETTINGS_SECTIONS: readonly {
  href: string
  label: string
  permission: Permission
}[] = [
  { href: '/admin/settings/api-keys', label: 'API keys', permission: 'api-keys:manage' },
  { href: '/admin/settings/webhooks', label: 'Webhooks', permission: 'webhooks:manage' },
  { href: '/admin/settings/email', label: 'Email', permission: 'mail:manage' },
  { href: '/admin/settings/events', label: 'Events', permission: 'mail:manage' },
  { href: '/admin/settings/people', label: 'People', permission: 'accounts:manage' },
  { href: '/admin/settings/audit-log', label: 'Audit log', permission: 'audit-log:read' },
  {
    href: '/admin/settings/personal-data',
    label: 'Personal data',
    permission: 'personal-data:erase',
  },
]
