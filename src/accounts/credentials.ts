import { Type, type Static } from '@sinclair/typebox'
import { emailAddress } from '../core/validation/email-address.js'
import { MAX_PASSWORD_LENGTH } from './password.js'

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
