import { existsSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
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

/**
 * The first versions, one for each major line that had to be mended, past what GitHub's advisories of
 * October 2026 and the packages' own changelogs tell of what the service needs.
 */
const MENDED_IN: Record<string, readonly string[]> = {
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
/** The full-text index had two. */
const SQLITE_MENDED_IN = '3.53.2'

const isAtLeast = (version: string, floor: string): boolean =>
  version.localeCompare(floor, 'en', { numeric: true }) >= 0

/** Whether a version is past what was mended in its major line, or of a later line. */
function isMended(version: string, floors: readonly string[]): boolean {
  const major = Number.parseInt(version)
  const floor = floors.find((one) => Number.parseInt(one) === major)
  if (floor !== undefined) return isAtLeast(version, floor)
  return floors.every((one) => Number.parseInt(one) < major)
}

t.test('every package is past the advisories known of it', async (t) => {
  t.ok(isMended('5.1.9', ['3.1.5', '5.1.8']) && isMended('6.0.0', ['5.1.8']))
  t.notOk(isMended('4.9.9', ['3.1.5', '5.1.8']) || isMended('5.1.7', ['5.1.8', '10.2.3']))
  const versions = shipped.map(([path, { version = '' }]) => [nameOf(path), version] as const)
  for (const name of Object.keys(MENDED_IN))
    t.ok(
      versions.some(([one]) => one === name),
      name,
    )
  t.same(
    versions.filter(([name, version]) => !isMended(version, MENDED_IN[name] ?? [])),
    [],
  )
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  const sqlite = db.prepare('SELECT sqlite_version()').pluck().get()
  t.ok(isAtLeast(String(sqlite), SQLITE_MENDED_IN), `SQLite ${String(sqlite)}`)
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
