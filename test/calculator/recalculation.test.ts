import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { calculateEstimate } from '../../src/calculator/estimate.js'
import { EDITIONS } from '../../src/calculator/factors/editions.js'
import { projectRoot } from '../../src/config/project-root.js'
import { startApp } from '../support/app.js'
import { calculation } from '../support/calculations.js'
import { findPython } from '../support/spreadsheet.js'

const SCRIPT = join(projectRoot, 'test', 'calculator', 'recalculate.py')

t.test('an independent program gets the same results from the listed factors', async (t) => {
  const python = findPython()
  if (python === null) return t.fail('no Python 3 found: run npm test')
  const { url } = await startApp(t)
  const { editions } = (await (await fetch(`${url}/api/calculators/editions`)).json()) as {
    editions: unknown
  }
  const trips = fc.sample(calculation, 5_000)
  const cases = EDITIONS.flatMap((edition) =>
    trips.map((trip) => ({
      type: trip.calculatorType,
      data: trip.calculatorData,
      edition: edition.id,
      estimate: calculateEstimate(trip, edition),
    })),
  )
  const { stdout, stderr } = spawnSync(python, [SCRIPT], {
    input: JSON.stringify({ editions, cases }),
    encoding: 'utf8',
    maxBuffer: 1024 * 1024,
  })
  if (stderr) t.comment(stderr)
  const { cases: count, worst } = JSON.parse(stdout) as { cases: number; worst: number }
  t.equal(count, 10_000)
  t.ok(worst < 1e-9, `largest relative difference ${worst}`)
})
