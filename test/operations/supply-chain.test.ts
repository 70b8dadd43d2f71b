import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/project-root.js'

interface Package {
  version?: string
  dev?: boolean
  optional?: boolean
  license?: string
  hasInstallScript?: boolean
  resolved?: string
  integrity?: string
}

const read = (...path: string[]): any =>
  JSON.parse(readFileSync(join(projectRoot, ...path), 'utf8'))

const { packages } = read('package-lock.json') as { packages: Record<string, Package> }
const all = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/'))
const shipped = all.filter(([, { dev }]) => dev !== true)

/** Licences under which anybody may use, change and sell the whole. */
const PERMISSIVE = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Zlib',
  'Unlicense',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Python-2.0',
  'WTFPL',
]

/** Not as SPDX has them: X11's and MIT's are the same, BSD-0-Clause is 0BSD. */
const ALIASES = ['MIT/X11', 'BSD-0-Clause']

/** Says nothing; exceljs brings it to read workbooks, which the service never does. */
const UNSTATED = ['node_modules/buffers']

/** Whether an SPDX expression leaves a choice that is permissive throughout. */
const isPermissive = (licence: string): boolean =>
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) =>
      choice.split(' AND ').every((one) => [...PERMISSIVE, ...ALIASES].includes(one.trim())),
    )

/** The licence that a package itself states; some old ones state it in a form of their own. */
function licenceOf([path, { license, optional }]: [string, Package]): string {
  if (license !== undefined) return license
  try {
    const { license: own, licenses } = read(path, 'package.json')
    return own?.type ?? own ?? licenses?.[0]?.type ?? 'none'
  } catch (error) {
    if (optional === true) return 'MIT'
    throw error
  }
}

t.test('every package that the service needs has a permissive licence', async (t) => {
  t.ok(shipped.length > 50)
  const stated = shipped.map((one) => [one[0], licenceOf(one)] as const)
  t.same(
    stated.filter(([, licence]) => !isPermissive(licence)).map(([path]) => path),
    UNSTATED,
  )
})

t.test('only packages named run a script when they are installed', async (t) => {
  const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> }
  const scripted = all
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''))
  // What watches files for macOS; nothing of it is installed elsewhere.
  const named = [...Object.keys(allowScripts), 'fsevents']
  t.same(
    [...new Set(scripted)].filter((name) => !named.includes(name)),
    [],
  )
  t.ok(named.length <= 4)
})

t.test('every package is pinned by its content', async (t) => {
  t.same(
    all.filter(([, { integrity, version }]) => !integrity?.startsWith('sha512-') || !version),
    [],
  )
  const { dependencies, devDependencies } = read('package.json')
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    t.match(version, /^\d+\.\d+\.\d+$/, name)
  }
})
