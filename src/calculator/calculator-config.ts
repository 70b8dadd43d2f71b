import {
  optional,
  toSecretRule,
  toUrlRule,
  type ConfigPart,
  type Values,
  type ConfigRule,
} from '../core/config/config-part.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  CHECKOUT_URL: optional('URL of the shop that results link to'),
  CHECKOUT_SECRET: optional('At least 32 bytes; signs the parameters sent to CHECKOUT_URL'),
}

const rules: readonly ConfigRule[] = [toUrlRule('CHECKOUT_URL'), toSecretRule('CHECKOUT_SECRET')]

/** The shop that results link to. */
export const calculatorConfig = { variables, rules } satisfies ConfigPart
