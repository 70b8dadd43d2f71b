import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Calculation } from '../../src/calculator/calculator-data.js'
import type { Estimate } from '../../src/calculator/estimate-schema.js'
import { FRAMEWORKS } from '../../src/calculator/factors/edition.js'
import { EDITIONS, FUEL_TYPES, hasFuel, isBurnt } from '../../src/calculator/factors/editions.js'
import { projectRoot } from '../../src/core/config/config-part.js'
import { postJson, startApp } from '../support/app.js'
import { calculation } from '../support/calculations.js'
import { findPython } from '../support/spreadsheet.js'

const SCRIPT = join(projectRoot, 'test', 'calculator', 'recalculate.py')

/** For each edition and framework */
const TRIPS = 1_200
/** Requests at the same time */
const CONCURRENCY = 20

/** Whether an edition has every fuel of a trip. */
const isInEdition = (id: (typeof EDITIONS)[number]['id'], trip: Calculation): boolean =>
  trip.calculatorType === 'custom' ||
  [trip.calculatorData, ...(trip.calculatorData.furtherLines ?? [])].every(
    ({ fuelType }) => !isBurnt(fuelType) || hasFuel(id, fuelType),
  )

t.test('an independent program gets the same results from the listed factors', async (t) => {
  const python = findPython()
  if (python === null) return t.fail('no Python 3 found: run npm test')
  const { url } = await startApp(t, { RATE_LIMIT_PER_MINUTE: '1000000' })
  const pending = EDITIONS.flatMap(({ id }) =>
    FRAMEWORKS.flatMap((framework) =>
      fc
        .sample(
          calculation.filter((trip) => isInEdition(id, trip)),
          TRIPS,
        )
        .map(({ calculatorType, calculatorData }) => ({
          calculatorType,
          calculatorData: { ...calculatorData, framework },
          edition: id,
          framework,
        })),
    ),
  )
  const cases: object[] = []
  const sendAll = async (): Promise<void> => {
    for (let trip = pending.pop(); trip !== undefined; trip = pending.pop()) {
      const { calculatorType: type, calculatorData: data, edition, framework } = trip
      const path = `/api/calculators/${type}/estimate?edition=${edition}`
      const { status, body } = await postJson(url + path, data)
      if (status !== 200 || body.edition !== edition || body.framework !== framework) {
        throw new Error(JSON.stringify(body))
      }
      cases.push({ type, data, framework, estimate: body as Estimate })
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
  t.equal(result.cases, TRIPS * EDITIONS.length * FRAMEWORKS.length)
  t.ok(result.cases >= 10_000)
  t.ok(result.worst < 1e-6, `largest relative difference ${result.worst}`)
  t.same(result.fuels, [...FUEL_TYPES].sort())
})
