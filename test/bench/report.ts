import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, type } from 'node:os'
import { dirname, join } from 'node:path'
import { projectRoot } from '../../src/core/config/config-part.js'

const LIBRARIES = [
  '@fastify/http-proxy',
  'autocannon',
  'better-sqlite3',
  'eta',
  'exceljs',
  'fast-csv',
  'fastify',
  'qrcode',
]

function getVersion(library: string): string {
  const manifest = readFileSync(join(projectRoot, 'node_modules', library, 'package.json'), 'utf8')
  return `${library} ${(JSON.parse(manifest) as { version: string }).version}`
}

/** Processors, operating system, Node version and library versions. */
export const MACHINE = [
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  `${type()} ${release()}`,
  `Node ${process.version}`,
  ...LIBRARIES.map(getVersion),
].join(', ')

/** Writes results to `.test/bench/<name>.json`, where the plots read them. */
export function writeReport(name: string, results: object): void {
  const file = join(projectRoot, `.test/bench/${name}.json`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ machine: MACHINE, ...results }, null, 2)}\n`)
  console.log(`Written to ${file}`)
}
