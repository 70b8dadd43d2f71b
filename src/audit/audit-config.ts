import { Type } from '@sinclair/typebox'
import type { ConfigPart, Values } from '../core/config/config-part.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  AUDIT_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 400,
    description: 'Days that entries of the audit log are kept',
  }),
}

/** The audit log. */
export const auditConfig = { variables } satisfies ConfigPart
