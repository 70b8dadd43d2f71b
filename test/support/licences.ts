import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/config/project-root.js'

export interface Package {
  version?: string
  dev?: boolean
  optional?: boolean
  license?: string
  hasInstallScript?: boolean
  resolved?: string
  integrity?: string
}

/** A JSON file of the project. */
export const readJson = (...path: string[]): any =>
  JSON.parse(readFileSync(join(projectRoot, ...path), 'utf8'))

/** Where the list of licences lies. */
export const LICENCES_FILE = join(projectRoot, 'THIRD_PARTY_LICENSES.md')

const { packages } = readJson('package-lock.json') as { packages: Record<string, Package> }

/** All packages that the lock file has, by where they are installed. */
export const allPackages = Object.entries(packages).filter(([path]) =>
  path.startsWith('node_modules/'),
)

/** Those that the service needs. */
export const shippedPackages = allPackages.filter(([, { dev }]) => dev !== true)

export const getPackageName = (path: string): string => path.replace(/^.*node_modules\//, '')

/** The licence that a package itself states; some old ones state it in a form of their own. */
export function getLicence([path, { license, optional }]: [string, Package]): string {
  if (license !== undefined) return license
  try {
    const { license: own, licenses } = readJson(path, 'package.json')
    return own?.type ?? own ?? licenses?.[0]?.type ?? 'none'
  } catch (error) {
    if (optional === true) return 'MIT'
    throw error
  }
}

/** The list of what the service needs, with versions and licences, as Markdown. */
export function renderLicenceList(): string {
  const lines = shippedPackages.map(
    (one) => `- ${getPackageName(one[0])} ${one[1].version ?? ''}: ${getLicence(one)}`,
  )
  return [
    '# Licences of the packages that Clearwake needs',
    '',
    'Made by `npm run licences`; the texts are in the packages themselves, below `node_modules`.',
    '',
    ...[...new Set(lines)].sort(),
    '',
  ].join('\n')
}
