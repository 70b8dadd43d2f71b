import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'

/** The environment variables of a feature. */
export interface ConfigPart {
  /** The schemas of the variables, by name */
  variables: TProperties
  /** Rules that the schemas cannot express, for the raw text of single variables */
  rules?: readonly ConfigRule[]
  /** Finds errors that rules cannot express, in the raw text of the variables */
  findErrors?: (environment: NodeJS.ProcessEnv) => string[]
}

/** The values of a feature's variables. */
export type Values<Variables extends TProperties> = Static<TObject<Variables>>

/** A variable that need not be set and has no default. */
export const optional = (description: string) => Type.Optional(Type.String({ description }))

/** A variable that limits how often something may happen. */
export const limit = (fallback: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 1_000_000, default: fallback, description })

/** A rule for the raw text of a variable. `description` completes the sentence "NAME …". */
export type ConfigRule = readonly [
  name: string,
  isValid: (text: string) => boolean,
  description: string,
]

/** Checks the variables that are set; returns an error for each broken rule. */
export const checkRules = (
  environment: NodeJS.ProcessEnv,
  rules: readonly ConfigRule[],
): string[] =>
  rules.flatMap(([name, isValid, description]) => {
    const text = environment[name]
    return text === undefined || isValid(text) ? [] : [`${name} ${description}`]
  })

/** Finds the errors of a feature's variables that the schemas cannot express. */
export const findConfigErrors = (
  { rules = [], findErrors }: ConfigPart,
  environment: NodeJS.ProcessEnv,
): string[] => [...checkRules(environment, rules), ...(findErrors?.(environment) ?? [])]

const MIN_SECRET_BYTES = 32

/** The rule for variables that hold a secret. */
export const toSecretRule = (name: string): ConfigRule => [
  name,
  isLongSecret,
  `must have at least ${MIN_SECRET_BYTES} bytes`,
]

export const isLongSecret = (secret: string): boolean =>
  Buffer.byteLength(secret) >= MIN_SECRET_BYTES

/** Parses an http or https URL without credentials; `null` if it is none. */
export function parseHttpUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : null
}

/** The rule for variables that hold the address of a page. */
export const toUrlRule = (name: string): ConfigRule => [
  name,
  (text) => parseHttpUrl(text) !== null,
  'must be an http or https URL',
]

/** The configuration is invalid; `message` lists every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(problems: readonly string[]) {
    const lines = problems.map((problem) => `  ${problem}`)
    super(['Clearwake cannot start with this configuration:', ...lines].join('\n'))
  }
}

function findPackageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('no package.json in a parent directory')
  return findPackageRoot(parent)
}

/** Directory of templates, static files and packages; the compiled code is below it. */
export const projectRoot = findPackageRoot(import.meta.dirname)
