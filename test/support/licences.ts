import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/core/config/config-part.js'

export interface Package {
  version?: string
  dev?: boolean
  optional?: boolean
  license?: string
  hasInstallScript?: boolean
  resolved?: string
  integrity?: string
}

/** Reads a JSON file of the project. */
export const readJson = (...path: string[]): any =>
  JSON.parse(readFileSync(join(projectRoot, ...path), 'utf8'))

export const LICENCES_FILE = join(projectRoot, 'THIRD_PARTY_LICENSES.md')

const { packages } = readJson('package-lock.json') as { packages: Record<string, Package> }

/** All packages in the lock file, by installation path. */
export const allPackages = Object.entries(packages).filter(([path]) =>
  path.startsWith('node_modules/'),
)

/** The packages that the service needs at run time. */
export const shippedPackages = allPackages.filter(([, { dev }]) => dev !== true)

export const getPackageName = (path: string): string => path.replace(/^.*node_modules\//, '')

/** The licence named at the start of a licence file; png-js does not state it anywhere else. */
const readLicenceName = (path: string): string =>
  /^(\w+) License\n/.exec(readFileSync(join(projectRoot, path, 'LICENSE'), 'utf8'))?.[1] ?? 'none'

/** The SPDX licence of a package; old packages state it in `license.type` or `licenses`. */
export function getLicence([path, { license, optional }]: [string, Package]): string {
  if (license !== undefined) return license
  try {
    const { license: own, licenses } = readJson(path, 'package.json')
    return own?.type ?? own ?? licenses?.[0]?.type ?? readLicenceName(path)
  } catch (error) {
    // Optional packages of other platforms are not installed.
    if (optional === true) return 'MIT'
    throw error
  }
}

/** Renders the packages with versions and licences as Markdown. */
export function renderLicenceList(): string {
  const lines = shippedPackages.map(
    (entry) => `- ${getPackageName(entry[0])} ${entry[1].version ?? ''}: ${getLicence(entry)}`,
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
