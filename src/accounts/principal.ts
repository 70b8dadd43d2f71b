import type { FastifyRequest } from 'fastify'
import type { ApiKey } from './api-keys/api-key-store.js'
import type { Role } from './permissions.js'
import type { Session } from './sessions.js'

/** A person who is signed in. */
export interface User {
  type: 'user'
  email: string
  /** The role at the time of the request */
  role: Role
  session: Session
}

/** Who makes a request. */
export type Principal = User | { type: 'api_key'; key: ApiKey }

/** The user who makes a request; `null` for guests and API keys. */
export const findUser = ({ principal }: FastifyRequest): User | null =>
  principal?.type === 'user' ? principal : null

/** The user who makes a request. Throws for guests and API keys, whom the guard does not let in. */
export function getUser(request: FastifyRequest): User {
  const user = findUser(request)
  if (user === null) throw new Error('no user makes this request')
  return user
}
