import { Type } from '@sinclair/typebox'
import type { ConfigPart, ConfigRule, Values } from '../core/config/config-part.js'
import { isCurrency } from '../core/validation/formats.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  ORDERS_READ_ONLY: Type.Boolean({
    default: false,
    description: 'Reject changes to orders while they are moved to another database',
  }),
  CURRENCY: Type.String({
    default: 'USD',
    description: 'Default currency of new orders, shown first on the dashboard',
  }),
}

const rules: readonly ConfigRule[] = [
  ['CURRENCY', isCurrency, 'must be an ISO 4217 code in capitals, such as EUR'],
]

/** Orders. */
export const orderConfig = { variables, rules } satisfies ConfigPart
