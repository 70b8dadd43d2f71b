/** What the audit log records, with labels for people. Stored data: never rename one. */
export const AUDIT_ACTIONS = {
  'sign_in.succeeded': 'Signed in',
  'sign_in.failed': 'Sign-in failed',
  sign_out: 'Signed out',
  'session.revoked': 'Session revoked',
  'account.invited': 'Account invited',
  'account.invitation_accepted': 'Invitation accepted',
  'account.role_changed': 'Role changed',
  'account.disabled': 'Account disabled',
  'account.enabled': 'Account enabled',
  'account.deleted': 'Account deleted',
  'account.password_changed': 'Password changed',
  'account.password_reset': 'Password reset',
  'account.link_created': 'Invitation or reset link created',
  'second_factor.added': 'Second factor added',
  'second_factor.removed': 'Second factor removed',
  'recovery_codes.created': 'Recovery codes created',
  'api_key.created': 'API key created',
  'api_key.revoked': 'API key revoked',
  'webhook.created': 'Webhook created',
  'webhook.changed': 'Webhook changed',
  'webhook.deleted': 'Webhook deleted',
  'webhook.secret_rotated': 'Webhook secret rotated',
  'orders.exported': 'Orders exported',
  'audit_log.exported': 'Audit log exported',
  'view.saved': 'View saved',
  'view.deleted': 'View removed',
  'payment.refunded': 'Payment refunded',
  'personal_data.erased': 'Personal data erased',
} as const
export type AuditAction = keyof typeof AUDIT_ACTIONS

export const AUDIT_ACTION_NAMES = Object.keys(AUDIT_ACTIONS) as AuditAction[]
