import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './free-port.js'
import { installOnce, POSTGRES_CLUSTER, POSTGRES_NATIVE } from './nocodb-tools.js'

const NOBODY = 65_534

/** PostgreSQL does not run as root. */
const isRoot = process.getuid?.() === 0
export const NOBODY_USER = isRoot ? { uid: NOBODY, gid: NOBODY } : {}

const DEBIAN = '/usr/lib/postgresql'

/** Folder of the programs of Debian's package, which has `pg_dump`; `null` without it. */
export function findDebianPostgres(): string | null {
  const [version] = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort().reverse() : []
  const folder = join(DEBIAN, version ?? '', 'bin')
  return existsSync(join(folder, 'pg_dump')) && existsSync(join(folder, 'initdb')) ? folder : null
}

/** Whether PostgreSQL is installed for the tests. */
export const hasPostgres = (): boolean => existsSync(POSTGRES_NATIVE)

export const POSTGRES_IS_MISSING =
  'The tests need PostgreSQL, which is not installed: run npm run test:install'

/** Skips a test if PostgreSQL is not installed; `npm run test:install` installs it. */
export const SKIP_WITHOUT_POSTGRES = {
  skip: hasPostgres() ? false : 'PostgreSQL is not installed',
}

export interface PostgresServer {
  port: number
  isRunning: () => boolean
  /** IDs of its processes: the server, then those of connections and background work */
  getPids: () => number[]
  /** Kills all its processes, as a crash does */
  kill: () => Promise<void>
  /** Starts it again, with its data */
  start: () => Promise<void>
  /** Accepts connections, but does not respond */
  freeze: () => void
  thaw: () => void
  /** Creates an empty database; returns its URL */
  createDatabase: () => Promise<string>
}

const DEFAULT_PROGRAMS = join(POSTGRES_NATIVE, 'bin')

const PROCESS_OPTIONS = {
  ...NOBODY_USER,
  env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: '/tmp' },
  cwd: '/tmp',
}

/** Creates the files of a server with an empty database `noco` in an empty folder. */
function createCluster(folder: string, programs: string): void {
  chmodSync(folder, 0o700)
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  execFileSync(
    join(programs, 'initdb'),
    ['-D', folder, '-U', 'noco', '-A', 'trust', '-E', 'UTF8', '--wal-segsize=1'],
    { ...PROCESS_OPTIONS, stdio: 'ignore' },
  )
  spawnSync(join(programs, 'postgres'), ['--single', '-D', folder, 'postgres'], {
    ...PROCESS_OPTIONS,
    input: 'create database noco;\n',
  })
}

interface Options {
  /** Folder of its programs */
  programs?: string
  /** Called with the empty folder that will contain the data */
  prepareFolder?: (folder: string) => void
}

/** Starts an empty PostgreSQL server with given settings, stopped when the test ends. */
export async function startPostgres(
  t: { teardown: (work: () => Promise<void>) => unknown },
  options: Record<string, string> = {},
  { programs = DEFAULT_PROGRAMS, prepareFolder }: Options = {},
): Promise<PostgresServer> {
  if (programs === DEFAULT_PROGRAMS && !hasPostgres()) {
    throw new Error(POSTGRES_IS_MISSING)
  }
  const port = await freePort()
  const parent = mkdtempSync('/tmp/clearwake-postgres-')
  prepareFolder?.(parent)
  chmodSync(parent, 0o755)
  const folder = join(parent, 'data')

  if (programs === DEFAULT_PROGRAMS) {
    installOnce(POSTGRES_CLUSTER, 'a PostgreSQL cluster', (draft) => createCluster(draft, programs))
    // Keeps the owner, which is not this user.
    execFileSync('cp', ['-a', POSTGRES_CLUSTER, folder])
  } else {
    mkdirSync(folder)
    createCluster(folder, programs)
  }
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    timezone: 'UTC',
    ...options,
  }
  const startProcess = async (): Promise<ChildProcess> => {
    const server = spawn(
      join(programs, 'postgres'),
      [
        ...['-D', folder, '-p', String(port)],
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      PROCESS_OPTIONS,
    )
    let output = ''
    server.stdout.resume()
    server.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    for (let attempts = 0; !output.includes('ready to accept connections'); attempts++) {
      if (server.exitCode !== null || attempts === 8_000) {
        throw new Error(`PostgreSQL did not start:\n${output}`)
      }
      await sleep(30)
    }
    return server
  }
  let server = await startProcess()
  const isRunning = () => server.exitCode === null && server.signalCode === null
  const getPids = (): number[] => {
    const pid = server.pid ?? 0
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    return [pid, ...children.map(Number)]
  }
  // Its children have their own sessions.
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of getPids()) {
      try {
        process.kill(pid, signal)
      } catch (error) {
        // A child may have ended since.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }
  const stop = async (signal: NodeJS.Signals) => {
    const exited = once(server, 'exit')
    if (signal === 'SIGKILL') signalAll(signal)
    else server.kill(signal)
    await exited
  }
  t.teardown(async () => {
    if (isRunning()) await stop('SIGINT')
    rmSync(parent, { recursive: true, force: true })
  })
  let databases = 0
  return {
    port,
    isRunning,
    getPids,
    kill: () => stop('SIGKILL'),
    async start() {
      // A child that was starting when its parent was killed exits shortly afterwards.
      for (let attempts = 0; ; attempts++) {
        try {
          server = await startProcess()
          return
        } catch (error) {
          if (!String(error).includes('shared memory block') || attempts === 50) throw error
          await sleep(100)
        }
      }
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async createDatabase() {
      const url = `postgres://noco@127.0.0.1:${port}`
      const name = `clearwake_${++databases}`
      const client = new pg.Client(`${url}/postgres`)
      await client.connect()
      await client.query(`CREATE DATABASE ${name}`)
      await client.end()
      return `${url}/${name}`
    },
  }
}

/** The value of NC_DB for NocoDB's own database. */
export const toNocoDbUrl = ({ port }: PostgresServer): string =>
  `pg://127.0.0.1:${port}?u=noco&p=noco&d=noco`
