import { Type, type Static } from '@sinclair/typebox'
import { emailAddress } from '../core/validation/email-address.js'
import { stringEnum } from '../core/validation/formats.js'
import { MAX_PASSWORD_LENGTH } from './password-rules.js'
import { ROLES, type Role } from './permissions.js'

/** Email and password of a user. */
export const Credentials = Type.Object(
  {
    email: emailAddress({
      format: 'known-email-address',
      description: 'Case-insensitive',
      'x-message': 'must be an email address',
    }),
    password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
  },
  {
    title: 'Credentials',
    additionalProperties: false,
    examples: [{ email: 'admin@example.com', password: 'clearwake demo only' }],
  },
)
export type Credentials = Static<typeof Credentials>

export const RoleSchema = stringEnum<Role>(ROLES, {
  description: 'Each role includes the permissions of the roles listed after it',
})

export const NewAccount = Type.Object(
  {
    email: emailAddress({ description: 'Case-insensitive' }),
    role: RoleSchema,
  },
  {
    title: 'New account',
    additionalProperties: false,
    examples: [{ email: 'ann@example.com', role: 'manager' }],
  },
)
export type NewAccount = Static<typeof NewAccount>

const nullableText = (description: string, options = {}) =>
  Type.Union([Type.String(options), Type.Null()], { description })

/** An account without its password hash, for account management. */
export const ManagedAccount = Type.Object(
  {
    /** The email, for accounts from ADMIN_ACCOUNTS */
    id: Type.String({ description: 'ID of the account' }),
    email: Type.String(),
    role: RoleSchema,
    state: stringEnum(['active', 'invited', 'disabled'], {
      description: 'invited: until the person has chosen a password',
    }),
    source: stringEnum(['portal', 'configuration'], {
      description: 'configuration: listed in ADMIN_ACCOUNTS, and cannot be changed here',
    }),
    createdBy: nullableText('Who created the account; null for accounts from the configuration'),
    createdAt: nullableText(
      'When the account was created; null for accounts from the configuration',
      {
        format: 'date-time',
      },
    ),
    hasSecondFactor: Type.Boolean({
      description: 'Whether it has a passkey or an authenticator app',
    }),
  },
  { title: 'Account' },
)
export type ManagedAccount = Static<typeof ManagedAccount>
export type AccountState = ManagedAccount['state']

export const AccountChanges = Type.Object(
  {
    role: Type.Optional(RoleSchema),
    disabled: Type.Optional(
      Type.Boolean({ description: 'A disabled account cannot sign in, and its sessions end' }),
    ),
  },
  {
    title: 'Account changes',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ role: 'operator' }],
  },
)
export type AccountChanges = Static<typeof AccountChanges>
