import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Estimate } from '../../src/calculator/estimate.js'
import { EDITIONS, FUEL_TYPES } from '../../src/calculator/factors/editions.js'
import { projectRoot } from '../../src/config/project-root.js'
import { postJson, startApp } from '../support/app.js'
import { calculation } from '../support/calculations.js'
import { findPython } from '../support/spreadsheet.js'

const SCRIPT = join(projectRoot, 'test', 'calculator', 'recalculate.py')

const TRIPS = 5_000
/** Requests at the same time */
const CONCURRENCY = 20

t.test('an independent program gets the same results from the listed factors', async (t) => {
  const python = findPython()
  if (python === null) return t.fail('no Python 3 found: run npm test')
  const { url } = await startApp(t, { RATE_LIMIT_PER_MINUTE: '1000000' })
  const pending = EDITIONS.flatMap(({ id }) =>
    fc.sample(calculation, TRIPS).map((trip) => ({ ...trip, edition: id })),
  )
  const cases: object[] = []
  const sendAll = async (): Promise<void> => {
    for (let trip = pending.pop(); trip !== undefined; trip = pending.pop()) {
      const { calculatorType: type, calculatorData: data, edition } = trip
      const path = `/api/calculators/${type}/estimate?edition=${edition}`
      const { status, body } = await postJson(url + path, data)
      if (status !== 200 || body.edition !== edition) throw new Error(JSON.stringify(body))
      cases.push({ type, data, estimate: body as Estimate })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, sendAll))
  const { stdout, stderr } = spawnSync(python, [SCRIPT], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
    maxBuffer: 1024 * 1024,
  })
  if (stderr) t.comment(stderr)
  const result = JSON.parse(stdout) as { cases: number; worst: number; fuels: string[] }
  t.equal(result.cases, TRIPS * EDITIONS.length)
  t.ok(result.cases >= 10_000)
  t.ok(result.worst < 1e-9, `largest relative difference ${result.worst}`)
  t.same(result.fuels, [...FUEL_TYPES].sort())
})
