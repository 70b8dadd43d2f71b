import { existsSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import t from 'tap'
import {
  allPackages as all,
  getLicence,
  getPackageName,
  LICENCES_FILE,
  readJson,
  renderLicenceList,
  shippedPackages as shipped,
} from '../support/licences.js'

/** Licences that allow use, modification and sale. */
const ALLOWED = [
  'MIT',
  'MIT-0',
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
  // Fonts
  'OFL-1.1',
  // Covers changes to the files of the package only
  'MPL-2.0',
  // A shared library (libvips), which can be replaced
  'LGPL-3.0-or-later',
]

/** Non-SPDX names of 0BSD and MPL-2.0. */
const ALIASES = ['BSD-0-Clause', 'MPL 2.0']

/** Whether one alternative of an SPDX expression consists of these licences only. */
const isAllowed = (licence: string): boolean =>
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) =>
      choice.split(' AND ').every((one) => [...ALLOWED, ...ALIASES].includes(one.trim())),
    )

t.test('every runtime package has a licence that allows use, modification and sale', async (t) => {
  t.ok(shipped.length > 50)
  const stated = shipped.map((one) => [one[0], getLicence(one)] as const)
  t.same(
    stated.filter(([, licence]) => !isAllowed(licence)).map(([path]) => path),
    [],
  )
})

t.test('the licence list matches the installed packages', async (t) => {
  const listed = existsSync(LICENCES_FILE) ? readFileSync(LICENCES_FILE, 'utf8') : ''
  t.equal(listed, renderLicenceList(), 'update it with npm run licences')
})

t.test('only allowed packages run install scripts', async (t) => {
  const { allowScripts } = readJson('package.json') as { allowScripts: Record<string, boolean> }
  const scripted = all
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => getPackageName(path))
  // fsevents is installed on macOS only.
  const allowed = [...Object.keys(allowScripts), 'fsevents']
  t.same(
    [...new Set(scripted)].filter((name) => !allowed.includes(name)),
    [],
  )
  t.ok(allowed.length <= 4)
})

/**
 * First fixed versions, one per affected major version, according to the GitHub advisories of October
 * 2026 and the changelogs of the packages.
 */
const FIXED_IN: Record<string, readonly string[]> = {
  '@fastify/http-proxy': ['11.6.2'],
  '@fastify/jwt': ['10.2.2'],
  '@fastify/rate-limit': ['11.2.0'],
  '@fastify/reply-from': ['12.6.4'],
  '@fastify/static': ['10.1.4'],
  ajv: ['8.18.0'],
  'bn.js': ['4.12.3'],
  'brace-expansion': ['1.1.21', '2.1.7', '5.0.12'],
  'fast-jwt': ['6.3.4'],
  'fast-uri': ['3.1.8', '4.1.5'],
  fastify: ['5.12.5'],
  'find-my-way': ['9.7.0'],
  'ip-address': ['10.7.1'],
  minimatch: ['3.1.5', '5.1.8', '10.2.3'],
  'tar-fs': ['2.1.4'],
  tmp: ['0.2.7'],
  undici: ['7.29.1'],
  unzipper: ['0.12.4'],
  uuid: ['11.1.1'],
  ws: ['8.21.0'],
  yaml: ['2.8.3'],
}
/** Fixes two vulnerabilities in full-text search. */
const SQLITE_FIXED_IN = '3.53.2'

const isAtLeast = (version: string, floor: string): boolean =>
  version.localeCompare(floor, 'en', { numeric: true }) >= 0

/** Whether a version includes the fix of its major version, or belongs to a later one. */
function isFixed(version: string, floors: readonly string[]): boolean {
  const major = Number.parseInt(version)
  const floor = floors.find((one) => Number.parseInt(one) === major)
  if (floor !== undefined) return isAtLeast(version, floor)
  return floors.every((one) => Number.parseInt(one) < major)
}

t.test('no package has a known advisory', async (t) => {
  t.ok(isFixed('5.1.9', ['3.1.5', '5.1.8']) && isFixed('6.0.0', ['5.1.8']))
  t.notOk(isFixed('4.9.9', ['3.1.5', '5.1.8']) || isFixed('5.1.7', ['5.1.8', '10.2.3']))
  const versions = shipped.map(
    ([path, { version = '' }]) => [getPackageName(path), version] as const,
  )
  for (const name of Object.keys(FIXED_IN))
    t.ok(
      versions.some(([one]) => one === name),
      name,
    )
  t.same(
    versions.filter(([name, version]) => !isFixed(version, FIXED_IN[name] ?? [])),
    [],
  )
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  const sqlite = db.prepare('SELECT sqlite_version()').pluck().get()
  t.ok(isAtLeast(String(sqlite), SQLITE_FIXED_IN), `SQLite ${String(sqlite)}`)
})

t.test('every package is pinned with an integrity hash', async (t) => {
  t.same(
    all.filter(([, { integrity, version }]) => !integrity?.startsWith('sha512-') || !version),
    [],
  )
  const { dependencies, devDependencies } = readJson('package.json')
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    t.match(version, /^\d+\.\d+\.\d+$/, name)
  }
})
