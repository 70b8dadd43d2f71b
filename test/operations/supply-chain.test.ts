import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import {
  allPackages as all,
  LICENCES_FILE,
  licenceOf,
  licencesList,
  nameOf,
  readJson,
  shippedPackages as shipped,
} from '../support/licences.js'

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

/** Not as SPDX has it: 0BSD. */
const ALIASES = ['BSD-0-Clause']

/** Whether an SPDX expression leaves a choice that is permissive throughout. */
const isPermissive = (licence: string): boolean =>
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) =>
      choice.split(' AND ').every((one) => [...PERMISSIVE, ...ALIASES].includes(one.trim())),
    )

t.test('every package that the service needs has a permissive licence', async (t) => {
  t.ok(shipped.length > 50)
  const stated = shipped.map((one) => [one[0], licenceOf(one)] as const)
  t.same(
    stated.filter(([, licence]) => !isPermissive(licence)).map(([path]) => path),
    [],
  )
})

t.test('the list of licences is that of what is installed', async (t) => {
  const listed = existsSync(LICENCES_FILE) ? readFileSync(LICENCES_FILE, 'utf8') : ''
  t.equal(listed, licencesList(), 'npm run licences makes it')
})

t.test('only packages named run a script when they are installed', async (t) => {
  const { allowScripts } = readJson('package.json') as { allowScripts: Record<string, boolean> }
  const scripted = all
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => nameOf(path))
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
  const { dependencies, devDependencies } = readJson('package.json')
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    t.match(version, /^\d+\.\d+\.\d+$/, name)
  }
})
