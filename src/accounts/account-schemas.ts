import { Type, type Static } from '@sinclair/typebox'
import { emailAddress } from '../core/validation/email-address.js'
import { MAX_PASSWORD_LENGTH } from './password.js'
import { stringEnum } from '../core/validation/string-enum.js'
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
