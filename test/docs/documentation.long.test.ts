import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { CONFIG_PARTS } from '../../src/config-parts.js'
import { projectRoot } from '../../src/core/config/config-part.js'
import { coreConfig } from '../../src/core/config/core-config.js'
import { temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { freePort } from '../support/free-port.js'
import { waitUntil } from '../support/wait-for.js'

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')

// api.md comes first: its sign-in example sets the shell variables that other documents use.
const DOCUMENTS = [
  'docs/api.md',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/shop/README.md',
  ...readdirSync(join(projectRoot, 'docs'))
    .filter((name) => name.endsWith('.md') && name !== 'api.md')
    .map((name) => `docs/${name}`),
]

const codeBlocks = (path: string, language: string): string[] =>
  [...read(path).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  )

/** The README's own start and test commands are what runs this suite. */
const isInstallCommand = (code: string): boolean => code.startsWith('npm install')

t.test('every shell example in the documentation works against the demo', async (t) => {
  const dataDir = temporaryFolder(t)
  const url = `http://127.0.0.1:${await freePort()}`
  const demo = spawn(process.execPath, [distPath('commands/demo.js')], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: new URL(url).port },
    stdio: 'ignore',
  })
  t.teardown(() => demo.kill('SIGKILL'))
  t.ok(await waitUntil(async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok === true))

  const examples = DOCUMENTS.flatMap((path) => codeBlocks(path, 'sh')).filter(
    (code) => !isInstallCommand(code),
  )
  const script = examples
    .join('\n')
    .replaceAll('http://127.0.0.1:3000', url)
    .replaceAll('DATA_DIR=data/demo', `DATA_DIR=${dataDir}`)
    .replaceAll('npm run ', `npm --prefix ${projectRoot} run `)
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-c', `set -euo pipefail\ncurl() { command curl --fail-with-body -s "$@"; }\n${script}`],
    { cwd: temporaryFolder(t), maxBuffer: 64 * 1024 * 1024 },
  )
  t.ok(examples.length > 5, 'there are examples')
  t.match(stdout, '"co2eKg":1653.1', 'the first example of the README calculates')

  const [example = ''] = codeBlocks('docs/api.md', 'json')
  const response = await fetch(`${url}/api/calculators/fuel/estimate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ quantity: 0, unit: 'l' }),
  })
  const documented = JSON.parse(example) as { requestId: string }
  const actual = (await response.json()) as { requestId: string }
  t.same({ ...actual, requestId: '' }, { ...documented, requestId: '' })
  t.equal(actual.requestId.length, documented.requestId.length)
})

t.test('the documentation names only scripts, variables and files that exist', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const variables = [coreConfig, ...CONFIG_PARTS].flatMap((part) => Object.keys(part.variables))
  const inExample = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
  t.same(inExample.toSorted(), variables.toSorted(), '.env.example lists every variable')
  const inTables = [...read('docs/configuration.md').matchAll(/^\|([^|]+)\|/gm)].flatMap(
    ([, cell = '']) => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
  )
  t.same(inTables.toSorted(), variables.toSorted(), 'docs/configuration.md lists every variable')

  for (const path of DOCUMENTS) {
    const text = read(path)
    const named = [...text.matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name = '']) => name)
    t.same(
      named.filter((name) => scripts[name] === undefined),
      [],
      `${path} names existing scripts`,
    )
    const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link)
    t.same(
      links.filter((link) => !existsSync(join(projectRoot, dirname(path), link))),
      [],
      `every link in ${path} has a target`,
    )
  }
})
