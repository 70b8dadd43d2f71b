import { checkRules, type ConfigRule } from '../core/config/config-rules.js'
import { parseBaseUrl, parsePublicRoutes } from './paths.js'

/** The token is sent in a header, so it must be ASCII without spaces. */
const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

const RULES: readonly ConfigRule[] = [
  [
    'ORDERSOURCE_BASE_URL',
    (text) => parseBaseUrl(text) !== null,
    'must be an https URL without a query (http only on a loopback address)',
  ],
  ['ORDERSOURCE_API_TOKEN', isToken, 'must be ASCII without spaces'],
  [
    'ORDERSOURCE_PUBLIC_ROUTES',
    (text) => parsePublicRoutes(text) !== null,
    'must be none, or methods with paths, comma-separated, such as GET /portfolios or GET /projects?country&page',
  ],
]

/** Finds errors in the variables of the order source. */
export function findProviderConfigErrors(environment: NodeJS.ProcessEnv): string[] {
  const errors = checkRules(environment, RULES)
  const { ORDERSOURCE_BASE_URL, ORDERSOURCE_API_TOKEN } = environment
  return ORDERSOURCE_BASE_URL !== undefined && ORDERSOURCE_API_TOKEN === undefined
    ? [...errors, 'ORDERSOURCE_API_TOKEN is required with ORDERSOURCE_BASE_URL']
    : errors
}
