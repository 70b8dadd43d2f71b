import { Type, type Static } from '@sinclair/typebox'
import { emailAddress } from '../core/validation/email-address.js'
import { stringEnum } from '../core/validation/string-enum.js'
import { ROLES, type Role } from './permissions.js'

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
