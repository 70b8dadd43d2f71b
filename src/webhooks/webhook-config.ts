import { Type } from '@sinclair/typebox'
import type { ConfigPart, Values } from '../core/config/config-part.js'
import { isPublic } from '../core/config/core-config.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  WEBHOOK_ALLOW_LOOPBACK: Type.Boolean({
    default: false,
    description: 'Permit webhooks to http://127.0.0.1 and http://localhost, for development',
  }),
}

const findErrors = (environment: NodeJS.ProcessEnv): string[] =>
  isPublic(environment) && environment.WEBHOOK_ALLOW_LOOPBACK === 'true'
    ? ['WEBHOOK_ALLOW_LOOPBACK must not be true unless HOST is a loopback address']
    : []

/** Webhooks. */
export const webhookConfig = { variables, findErrors } satisfies ConfigPart
