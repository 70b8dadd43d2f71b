import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Estimate } from '../../src/calculator/estimate-schema.js'
import type { FactorValue } from '../../src/calculator/factors/edition.js'
import { EDITION_IDS, EDITIONS, LATEST_EDITION } from '../../src/calculator/factors/editions.js'
import { projectRoot } from '../../src/core/config/config-part.js'
import { postJson, startApp } from '../support/app.js'

interface PublishedValues {
  gwp100: Record<string, [number, string]>
  fuels: Record<string, Record<string, [number, string]>>
  /** Values that an edition changed, in that edition and later ones */
  changes: { edition: string; fuels: PublishedValues['fuels'] }[]
}

const published = JSON.parse(
  readFileSync(join(projectRoot, 'test', 'calculator', 'published-values.json'), 'utf8'),
) as PublishedValues

/** The second transcription of a value, as it was published for an edition. */
const findPublished = (edition: string, fuelType: string, name: string): number | undefined =>
  [{ edition: '', fuels: published.fuels }, ...published.changes]
    .filter((change) => change.edition <= edition)
    .map(({ fuels }) => fuels[fuelType]?.[name]?.[0])
    .findLast((value) => value !== undefined)

const isFactor = (value: unknown): value is FactorValue =>
  typeof value === 'object' && value !== null && 'retrieved' in value

/** The factors of a fuel by name; those of a certified biofuel have a prefix. */
function listFactors(value: object, prefix = ''): [string, FactorValue][] {
  return Object.entries(value).flatMap(([name, member]): [string, FactorValue][] => {
    if (isFactor(member)) return [[prefix + name, member]]
    return typeof member === 'object' && member !== null
      ? listFactors(member as object, `${prefix}${name}.`)
      : []
  })
}

const { url } = await startApp(t)

async function estimate(data: object, query = ''): Promise<Estimate> {
  const { status, body } = await postJson(`${url}/api/calculators/fuel/estimate${query}`, data)
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body as Estimate
}

t.test('released editions never change', async (t) => {
  const digests = Object.fromEntries(
    EDITIONS.map((edition) => [
      edition.id,
      createHash('sha256').update(JSON.stringify(edition)).digest('hex'),
    ]),
  )
  t.same(digests, {
    '2025-06': '3cfd3a6effdc07451e77aa628b0e39c9c73ec658d20c01a3eef9b79e0343951d',
    '2026-06': '14038b500a7919e263911aa00ab8d40d9424a3acfe6d86eed9139acd4117a16c',
    '2026-11': 'dc84e28a98018fa81836c60ec910339dda331a5542ed447e2347565953e6e80d',
  })
})

t.test('every factor agrees with a second source, or is marked unverified', async (t) => {
  const mismatches = EDITIONS.flatMap((edition) => [
    ...Object.entries(edition.gwp100).filter(
      ([gas, { value }]) => value !== published.gwp100[gas]?.[0],
    ),
    ...Object.entries(edition.fuels).flatMap(([fuelType, fuel]) =>
      listFactors(fuel).flatMap(([name, factor]) => {
        const value = findPublished(edition.id, fuelType, name)
        // A density is rounded to the gram.
        const tolerance = name === 'density' ? 0.0005 : 0
        const isConfirmed = value !== undefined && Math.abs(value - factor.value) <= tolerance
        const isMarked = factor.unverified === true
        return isConfirmed || isMarked ? [] : [`${edition.id} ${fuelType}.${name}`]
      }),
    ),
  ])
  t.same(mismatches, [])
})

t.test('every factor has a unit, a source, a location and a date', async (t) => {
  const incomplete = EDITIONS.flatMap((edition) =>
    [...listFactors(edition.gwp100), ...listFactors(edition.fuels)].filter(
      ([, { unit, source, location, retrieved }]) =>
        !(unit && source && location && /^\d{4}-\d\d-\d\d$/.test(retrieved)),
    ),
  )
  t.same(incomplete, [])
})

t.test('states which GWP values are behind a published CO2e value', async (t) => {
  const { fuels } = LATEST_EDITION
  const { mgo, petrol } = fuels
  t.equal(mgo.wellToTank?.gwp, 'AR4')
  t.equal(petrol.wellToTank?.gwp, 'AR5')
  const wrong = listFactors(fuels).filter(
    ([, { unit, gwp }]) => unit.includes('CO2e') !== (gwp !== undefined),
  )
  t.same(wrong, [], 'values in CO2e, and only those, have a GWP report')
  const { factors } = await estimate({ fuelType: 'mgo', quantity: 1, unit: 'kg' })
  t.same(
    factors.filter(({ gwp }) => gwp).map(({ name, gwp }) => [name, gwp]),
    [
      ['Well-to-tank', 'AR4'],
      ['GWP100 of CH4', 'AR6'],
      ['GWP100 of N2O', 'AR6'],
    ],
  )
})

t.test('lists the editions, newest first', async (t) => {
  const response = await fetch(`${url}/api/calculators/editions`)
  const { editions } = (await response.json()) as {
    editions: { id: string; isLatest: boolean; fuels: { fuelType: string; factors: object[] }[] }[]
  }
  t.same(
    editions.map(({ id, isLatest }) => [id, isLatest]),
    [
      ['2026-11', true],
      ['2026-06', false],
      ['2025-06', false],
    ],
  )
  t.match(editions[2]?.fuels.find(({ fuelType }) => fuelType === 'hvo')?.factors, [
    {},
    {},
    { name: 'Well-to-tank', value: 0.56439, retrieved: /^2026/, location: /WTT/ },
  ])
})

t.test('calculates with the newest edition, or with the requested one', async (t) => {
  const data = { fuelType: 'petrol', quantity: 100, unit: 'l' }
  const results = await Promise.all([
    estimate(data),
    estimate(data, '?edition=2025-06'),
    estimate({ ...data, edition: '2025-06' }),
  ])
  t.same(
    results.map(({ edition }) => edition),
    ['2026-11', '2025-06', '2025-06'],
  )
  const isUnverified = ({ factors }: Estimate): boolean =>
    factors.some(({ name, unverified }) => name === 'Well-to-tank' && unverified === true)
  t.same(
    results.map(isUnverified),
    [true, false, false],
    '2026 has no well-to-tank value of mineral petrol',
  )
  const catalogue = await fetch(`${url}/api/calculators?edition=2025-06`)
  t.match(await catalogue.json(), { edition: '2025-06' })
})

t.test('rejects a fuel that an edition does not have, at every line', async (t) => {
  const data = {
    ...{ fuelType: 'diesel-road', quantity: 1, unit: 'l' },
    furtherLines: [
      { fuelType: 'mgo', quantity: 1, unit: 'l' },
      { fuelType: 'fame', quantity: 1, unit: 'l', certifiedGCo2ePerMj: 20 },
    ],
  }
  const { status, body } = await postJson(
    `${url}/api/calculators/fuel/estimate?edition=2026-06`,
    data,
  )
  const message = 'is not in edition 2026-06: use edition 2026-11'
  t.equal(status, 422)
  t.match(body, {
    errors: [
      { path: 'fuelType', message },
      { path: 'furtherLines.1.fuelType', message },
    ],
  })
  t.equal((await estimate(data)).edition, '2026-11')
})

t.test('petrol of 2026-06 was 0.6 % too low', async (t) => {
  const data = { fuelType: 'petrol', quantity: 1000, unit: 'l' }
  const [before, now] = await Promise.all([estimate(data, '?edition=2026-06'), estimate(data)])
  t.match(before, { tankToWakeCo2eKg: 2339.84, wellToTankCo2eKg: 606.64 })
  t.match(now, { tankToWakeCo2eKg: 2353.72, wellToTankCo2eKg: 606.64, fuelKg: 746 })
})

t.test('rejects an unknown edition', async (t) => {
  const data = { fuelType: 'mgo', quantity: 1, unit: 'l' }
  const [byQuery, byBody] = await Promise.all([
    postJson(`${url}/api/calculators/fuel/estimate?edition=1999-01`, data),
    postJson(`${url}/api/calculators/fuel/estimate`, { ...data, edition: '1999-01' }),
  ])
  const message = `must be one of ${EDITION_IDS.join(', ')}`
  t.match(byQuery.body, { errors: [{ path: 'edition', message }] })
  t.match(byBody.body, { errors: [{ path: 'edition', message }] })
  t.ok(byQuery.status >= 400 && byBody.status >= 400)
})

t.test('rejects two different editions', async (t) => {
  const data = { fuelType: 'mgo', quantity: 1, unit: 'l', edition: '2025-06' }
  const conflicting = await postJson(`${url}/api/calculators/fuel/estimate?edition=2026-06`, data)
  t.match(conflicting, {
    status: 422,
    body: { errors: [{ path: 'edition', message: 'differs from the edition in the query' }] },
  })
  t.equal((await estimate(data, '?edition=2025-06')).edition, '2025-06', 'the same one twice')
})
