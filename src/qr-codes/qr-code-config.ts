import { Type } from '@sinclair/typebox'
import { limit, type ConfigPart, type Values } from '../core/config/config-part.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  QR_REQUIRE_ADMIN: Type.Boolean({
    default: false,
    description: 'Require a sign-in or an API key to generate QR codes',
  }),
  QR_RATE_LIMIT_PER_MINUTE: limit(600, 'QR codes per client per minute'),
}

/** QR codes. */
export const qrCodeConfig = { variables } satisfies ConfigPart
