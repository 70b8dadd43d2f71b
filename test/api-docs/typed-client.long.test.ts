import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { projectRoot } from '../../src/core/config/config-part.js'
import { startOrderApi } from '../support/order-api.js'

const PROGRAM = 'typed-client.ts'

/** Each line after a comment is an error, or else the comment is one. */
const ERRORS = `
import type { operations } from './clearwake.js'
type NewOrder = operations['createOrder']['requestBody']['content']['application/json']
type Query = NonNullable<operations['listOrders']['parameters']['query']>
type Order = operations['getOrder']['responses'][200]['content']['application/json']
// @ts-expect-error
export const currency: NewOrder['currency'] = 978
// @ts-expect-error
export const sort: Query['sort'] = 'weight'
// @ts-expect-error
export type Total = Order['total']
`

/** A folder in the project, so that the compiler finds the types of Node. */
function createFolder(t: Test): string {
  const folder = mkdtempSync(join(projectRoot, '.test', 'typed-client-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Compiles files with strict checks; returns the errors. */
function compile(files: string[]): string[] {
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    types: ['node'],
  })
  const { diagnostics } = program.emit()
  return [...ts.getPreEmitDiagnostics(program), ...diagnostics].map(
    ({ messageText, start, file }) =>
      `${file?.text.slice(0, start).split('\n').length}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  )
}

t.test('generated types compile, find errors, and match the running service', async (t) => {
  const { call, url } = await startOrderApi(t)
  const { body: document } = await call('GET', '/openapi.json')
  const { body: key } = await call('POST', '/api/admin/api-keys', {
    name: 'Typed client',
    scopes: ['orders:read', 'orders:write'],
  })
  const folder = createFolder(t)
  const types = astToString(await openapiTS(document as OpenAPI3))
  writeFileSync(join(folder, 'clearwake.d.ts'), types)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  copyFileSync(join(projectRoot, 'examples', PROGRAM), join(folder, PROGRAM))
  writeFileSync(join(folder, 'errors.ts'), ERRORS)
  t.same(compile([PROGRAM, 'errors.ts'].map((name) => join(folder, name))), [])

  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(folder, PROGRAM.replace('.ts', '.js'))],
    { env: { CLEARWAKE_URL: url, CLEARWAKE_API_KEY: key.key } },
  )
  t.match(JSON.parse(stdout), {
    kilograms: /^\d+\.\d\d$/,
    vessel: 'EVER GIVEN',
    status: 'pending',
    isListed: true,
    totalItems: 1,
    event: /^order\.paid: CW-\d+$/,
  })
})
