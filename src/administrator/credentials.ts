import { Type, type Static } from '@sinclair/typebox'
import { LONGEST_PASSWORD } from '../plugins/password.js'

/** What an administrator logs in with. */
export const Credentials = Type.Object(
  {
    email: Type.String({
      format: 'email-address',
      maxLength: 254,
      description: 'In any case',
      'x-message': 'must be an e-mail address',
    }),
    password: Type.String({ minLength: 1, maxLength: LONGEST_PASSWORD }),
  },
  {
    title: 'Credentials',
    additionalProperties: false,
    examples: [{ email: 'admin@example.com', password: 'clearwake demo only' }],
  },
)
export type Credentials = Static<typeof Credentials>
