import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import t from 'tap'
import type { Estimate } from '../../src/calculator/estimate-schema.js'
import { calculateEstimate } from '../../src/calculator/estimate.js'
import { BURNT_FUEL_TYPES } from '../../src/calculator/factors/editions.js'
import { postJson, startApp } from '../support/app.js'
import { calculation, TYPICAL_CALCULATIONS } from '../support/calculations.js'

type Data = Record<string, unknown>

interface Problem {
  type: string
  title: string
  status: number
  detail: string
  requestId: string
  errors?: { path: string; message: string }[]
}

const { url } = await startApp(t)

const endpoint = (type: string) => `${url}/api/calculators/${type}/estimate`

async function estimate(type: string, data: Data, query = ''): Promise<Estimate> {
  const { status, body } = await postJson(endpoint(type) + query, data)
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body as Estimate
}

/** Sends text as JSON. */
const postText = (address: string, body: string): Promise<Response> =>
  fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

async function getProblem(type: string, data: unknown): Promise<Problem & { paths: string[] }> {
  const { status, body } = await postJson(endpoint(type), data)
  const problem = body as Problem
  if (status !== 422) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return { ...problem, paths: (problem.errors ?? []).map(({ path }) => path).sort() }
}

const messageAt = (problem: Problem, path: string): string =>
  problem.errors?.find((error) => error.path === path)?.message ?? ''

const near = (found: number | null, expected: number, tolerance = 1e-4): boolean =>
  found !== null && Math.abs(found - expected) <= Math.abs(expected) * tolerance

/** Whether a mass in kg is the expected one, rounded to the gram. */
const nearGram = (found: number | null, expected: number): boolean =>
  found !== null && Math.abs(found - expected) <= 0.0005 + Math.abs(expected) * 1e-9

/** FAME has no published well-to-tank value. */
const PUBLISHED_FUELS = BURNT_FUEL_TYPES.filter((fuelType) => fuelType !== 'fame')

const fuel = TYPICAL_CALCULATIONS.fuel.calculatorData
const trip = TYPICAL_CALCULATIONS.distance.calculatorData
const custom = TYPICAL_CALCULATIONS.custom.calculatorData

t.test('matches the published test vectors', async (t) => {
  const vectors: [string, Data, Partial<Record<keyof Estimate, number>>][] = [
    [
      'fuel',
      { fuelType: 'mgo', quantity: 1, unit: 'kg' },
      { tankToWakeCo2eKg: 3.25663, wellToTankCo2eKg: 0.61488, co2eKg: 3.87151, fuelKg: 1 },
    ],
    ['fuel', { fuelType: 'mgo', quantity: 1000, unit: 'l' }, { fuelKg: 854, co2eKg: 3306.27 }],
    [
      'fuel',
      { fuelType: 'petrol', quantity: 100, unit: 'gal-us' },
      {
        fuelLitres: 378.5412,
        tankToWakeCo2eKg: 890.9801,
        wellToTankCo2eKg: 229.638,
        co2eKg: 1120.618,
      },
    ],
    ['fuel', { fuelType: 'hvo', quantity: 1000, unit: 'l' }, { co2eKg: 599.97 }],
    ['distance', trip, { hours: 12, fuelLitres: 720, co2eKg: 2380.51 }],
    ['distance', { ...trip, generatorLitresPerHour: 8 }, { fuelLitres: 816, co2eKg: 2697.92 }],
    [
      'distance',
      { ...trip, consumption: 100, referenceSpeedKn: 12 },
      { hours: 12, fuelLitres: 694.444, co2eKg: 2296.02 },
    ],
    ['custom', { amount: 1.5, unit: 't' }, { co2eKg: 1500 }],
  ]
  const mismatches: object[] = []
  for (const [type, data, expected] of vectors) {
    const found = await estimate(type, data)
    t.equal(found.calculatorType, type)
    for (const [name, value] of Object.entries(expected)) {
      const actual = found[name as keyof Estimate]
      if (typeof actual !== 'number' || !near(actual, value)) {
        mismatches.push({ type, data, name, actual, expected: value })
      }
    }
  }
  t.same(mismatches, [])
})

t.test('results are in grams, and small ones have six digits', async (t) => {
  const found = await estimate('fuel', fuel)
  t.match(found, { co2eKg: 1653.135, tankToWakeCo2eKg: 1390.581, wellToTankCo2eKg: 262.554 })
  t.match(await estimate('fuel', { fuelType: 'mgo', quantity: 1, unit: 'kg' }), {
    co2eKg: 3.87151,
    gases: { co2Kg: 3.206, ch4Kg: 0.00005, n2oKg: 0.00018, biogenicCo2Kg: 0 },
  })
  t.equal((await estimate('custom', { amount: 1234.56789, unit: 'kg' })).co2eKg, 1234.568)
})

const byFramework = (framework: string, data: Data, type = 'fuel'): Promise<Estimate> =>
  estimate(type, data, `?framework=${framework}`)

t.test('matches the worked examples of FuelEU Maritime and the IMO', async (t) => {
  const fleet = await byFramework('fueleu', {
    ...{ fuelType: 'hfo', quantity: 12_000, unit: 't' },
    furtherLines: [{ fuelType: 'mgo', quantity: 1_400, unit: 't' }],
  })
  // 12,000 t × 40.5 MJ/kg + 1,400 t × 42.7 MJ/kg = 545,780 GJ
  t.ok(near(fleet.co2eKg / 545_780, 91.63722, 1e-6), String(fleet.co2eKg))
  const lng = await byFramework('fueleu', { fuelType: 'lng', quantity: 1, unit: 't' })
  t.ok(near((lng.tankToWakeCo2eKg ?? 0) / 49.1, 70.70293, 1e-6), 'LNG, tank-to-wake')
  const mgo = await byFramework('imo', { fuelType: 'mgo', quantity: 1, unit: 't' })
  t.ok(near(mgo.co2eKg / 42.7, 90.63, 5e-5), 'MGO')
  const hfo = await estimate('fuel', { fuelType: 'hfo', quantity: 1, unit: 't' })
  t.equal(hfo.gases.co2Kg, 3114)
})

t.test('the framework is in the query or in the body', async (t) => {
  const mgo = { fuelType: 'mgo', quantity: 1, unit: 'kg' }
  const results = await Promise.all([
    estimate('fuel', mgo),
    byFramework('clearwake', mgo),
    byFramework('fueleu', mgo),
    estimate('fuel', { ...mgo, framework: 'fueleu' }),
    byFramework('imo', trip, 'distance'),
    byFramework('imo', custom, 'custom'),
  ])
  t.same(
    results.map(({ framework }) => framework),
    ['clearwake', 'clearwake', 'fueleu', 'fueleu', 'imo', 'imo'],
  )
  t.equal(results[0].co2eKg, results[1].co2eKg)
  t.equal(results[2].co2eKg, results[3].co2eKg)
  t.match(
    results[2].factors.filter(({ name }) => name.startsWith('GWP100')),
    [
      { value: 25, gwp: 'AR4' },
      { value: 298, gwp: 'AR4' },
    ],
  )
  const conflict = await postJson(`${endpoint('fuel')}?framework=imo`, {
    ...mgo,
    framework: 'fueleu',
  })
  t.match(conflict, {
    status: 422,
    body: { errors: [{ path: 'framework', message: 'differs from the framework in the query' }] },
  })
  const unknown = await getProblem('fuel', { ...mgo, framework: 'ar7' })
  t.equal(messageAt(unknown, 'framework'), 'must be one of clearwake, fueleu, imo')
})

t.test('a published CO2e value keeps its own GWP100, and has no gases', async (t) => {
  const petrol = { fuelType: 'petrol', quantity: 100, unit: 'l' }
  const [own, fueleu] = await Promise.all([estimate('fuel', petrol), byFramework('fueleu', petrol)])
  t.equal(own.co2eKg, fueleu.co2eKg)
  t.same(fueleu.gases, { co2Kg: null, ch4Kg: null, n2oKg: null, biogenicCo2Kg: null })
  t.match(
    fueleu.factors.find(({ name }) => name === 'Tank-to-wake'),
    { gwp: 'AR5' },
  )
  const both = await estimate('fuel', { ...fuel, furtherLines: [petrol] })
  t.equal(both.gases.co2Kg, null, 'a sum with an unknown part is unknown')
  t.equal(both.lines[0]?.gases.co2Kg, 1368.962)
})

t.test('methane slip counts as CH4', async (t) => {
  const { gases } = await estimate('fuel', { fuelType: 'lng', quantity: 1, unit: 't' })
  t.ok(near(gases.ch4Kg, 31, 1e-6) && near(gases.co2Kg, 969 * 2.75, 1e-6))
})

t.test('applies the factors of every fuel', async (t) => {
  // kg CO2e per kg, calculated by hand from the table in Regulation (EU) 2023/1805, Annex II
  const byMass: Record<string, { density: number; wellToTank: number; tankToWake: number }> = {
    mgo: { density: 0.854, wellToTank: 0.61488, tankToWake: 3.25663 },
    lfo: { density: 0.91, wellToTank: 0.5412, tankToWake: 3.20163 },
    hfo: { density: 0.983, wellToTank: 0.54675, tankToWake: 3.16463 },
    methanol: { density: 0.792, wellToTank: 0.62287, tankToWake: 1.42563 },
    lpg: { density: 0.515, wellToTank: 0.3588, tankToWake: 3.05063 },
    // 0.969 × (2.75 + 0.00011 × 273) + 0.031 × 29.8
    lng: { density: 0.4525, wellToTank: 0.90835, tankToWake: 3.61764907 },
    'lng-otto-slow': { density: 0.4525, wellToTank: 0.90835, tankToWake: 3.23936949 },
    'lng-diesel-slow': { density: 0.4525, wellToTank: 0.90835, tankToWake: 2.83406994 },
    'lng-lean-burn': { density: 0.4525, wellToTank: 0.90835, tankToWake: 3.48254922 },
    'lpg-butane': { density: 0.5754, wellToTank: 0.3588, tankToWake: 3.08063 },
    hydrogen: { density: 0.0708, wellToTank: 15.84, tankToWake: 0 },
    ammonia: { density: 0.682, wellToTank: 2.2506, tankToWake: 0.05063 },
  }
  const byVolume: Record<string, { density: number; wellToTank: number; tankToWake: number }> = {
    petrol: { density: 0.746, wellToTank: 0.60664, tankToWake: 2.35372 },
    'petrol-blend': { density: 0.746, wellToTank: 0.58094, tankToWake: 2.075 },
    'diesel-road': { density: 0.833, wellToTank: 0.61101, tankToWake: 2.58354 },
    hvo: { density: 0.78, wellToTank: 0.56439, tankToWake: 0.03558 },
  }
  t.same(Object.keys({ ...byMass, ...byVolume }).sort(), [...PUBLISHED_FUELS].sort())
  for (const [unit, factors] of Object.entries({ kg: byMass, l: byVolume })) {
    for (const [fuelType, expected] of Object.entries(factors)) {
      const found = await estimate('fuel', { fuelType, quantity: 1, unit })
      t.ok(near(found.wellToTankCo2eKg, expected.wellToTank, 1e-6), `${fuelType} well-to-tank`)
      t.ok(near(found.tankToWakeCo2eKg, expected.tankToWake, 1e-6), `${fuelType} tank-to-wake`)
      const density = (found.fuelKg ?? NaN) / (found.fuelLitres ?? NaN)
      t.ok(near(density, expected.density, 1e-12), `${fuelType} density`)
    }
  }
})

t.test('gives the same result in every unit of fuel', async (t) => {
  const litresPer = { l: 1, m3: 1000, 'gal-us': 3.785411784, 'gal-imp': 4.54609 }
  const mismatches: string[] = []
  const compare = (found: Estimate, reference: Estimate, name: string) => {
    const isSame = near(found.co2eKg, reference.co2eKg, 1e-6) && near(found.fuelLitres, 1000, 1e-12)
    if (!isSame) mismatches.push(name)
  }
  for (const fuelType of PUBLISHED_FUELS) {
    const reference = await estimate('fuel', { fuelType, quantity: 1000, unit: 'l' })
    for (const [unit, litres] of Object.entries(litresPer)) {
      const found = await estimate('fuel', { fuelType, quantity: 1000 / litres, unit })
      compare(found, reference, `${fuelType} in ${unit}`)
    }
    const kilograms = reference.fuelKg ?? 0
    for (const [unit, per] of Object.entries({ kg: 1, t: 1000 })) {
      const found = await estimate('fuel', { fuelType, quantity: kilograms / per, unit })
      compare(found, reference, `${fuelType} in ${unit}`)
    }
  }
  t.same(mismatches, [])
})

t.test('gives the same result in every unit of distance', async (t) => {
  const nautical = await estimate('distance', trip)
  for (const [distanceUnit, distance] of Object.entries({
    km: 120 * 1.852,
    mi: (120 * 1.852) / 1.609344,
  })) {
    const found = await estimate('distance', { ...trip, distance, distanceUnit })
    t.ok(near(found.hours, 12, 1e-12))
    t.ok(near(found.co2eKg, nautical.co2eKg, 1e-6))
  }
})

t.test('scales fuel per hour by the cube of speed and fuel per mile by its square', async (t) => {
  const perMile = { ...trip, consumption: 10, consumptionUnit: 'l/nmi' }
  const table: [name: string, data: Data, litres: number][] = [
    ['l/h', { ...trip, consumption: 100, referenceSpeedKn: 12 }, 100 * (10 / 12) ** 3 * 12],
    ['l/nmi', perMile, 1200],
    ['l/nmi, slower', { ...perMile, referenceSpeedKn: 12 }, 1200 * (10 / 12) ** 2],
    ['l/nmi, faster', { ...perMile, referenceSpeedKn: 8 }, 1200 * (10 / 8) ** 2],
    [
      'l/nmi counts nautical miles whatever the distance unit',
      { ...perMile, distance: 120 * 1.852, distanceUnit: 'km' },
      1200,
    ],
  ]
  for (const [name, data, litres] of table) {
    t.ok(near((await estimate('distance', data)).fuelLitres, litres, 1e-12), name)
  }
})

t.test('runs generators for the whole trip by default, independent of speed', async (t) => {
  const withGenerator = { ...trip, generatorLitresPerHour: 8 }
  const litres = async (data: Data) => (await estimate('distance', data)).fuelLitres
  t.ok(near(await litres(withGenerator), 720 + 8 * 12, 1e-12))
  t.ok(near(await litres({ ...withGenerator, generatorHours: 30 }), 720 + 8 * 30, 1e-12))
  const engines = (await litres({ ...trip, referenceSpeedKn: 12 })) ?? 0
  t.ok(
    near(await litres({ ...withGenerator, referenceSpeedKn: 12 }), engines + 8 * 12, 1e-12),
    'the generator does not scale with speed',
  )
  for (const idle of [
    { generatorLitresPerHour: 0 },
    { generatorLitresPerHour: 0, generatorHours: 30 },
    { generatorLitresPerHour: 8, generatorHours: 0 },
    { generatorHours: 0 },
  ]) {
    t.equal(await litres({ ...trip, ...idle }), 720, JSON.stringify(idle))
  }
  const hoursOnly = await getProblem('distance', { ...trip, generatorHours: 30 })
  t.same(hoursOnly.paths, ['generatorLitresPerHour'])
})

t.test('says that generator hours are assumed: a charter week came out 72 % too low', async (t) => {
  const withGenerator = { ...trip, generatorLitresPerHour: 8 }
  const codes = async (data: Data) =>
    (await estimate('distance', data)).warnings.map(({ code, path }) => [code, path])
  t.same(await codes(withGenerator), [['generator_hours_assumed', 'generatorHours']])
  t.same(await codes(trip), [])
  t.same(await codes({ ...withGenerator, generatorHours: 168 }), [])
  t.same(await codes({ ...withGenerator, generatorLitresPerHour: 0 }), [])
  t.match((await estimate('distance', withGenerator)).warnings, [{ message: /Generators/ }])
})

t.test('warns about a speed far from the reference speed', async (t) => {
  const codes = async (referenceSpeedKn: number) =>
    (await estimate('distance', { ...trip, referenceSpeedKn })).warnings.map(({ code }) => code)
  t.same(await codes(20), [], 'half')
  t.same(await codes(20.1), ['speed_outside_reference'])
  t.same(await codes(6.7), [])
  t.same(await codes(6.6), ['speed_outside_reference'])
})

t.test('refuses to scale the consumption of a planing hull', async (t) => {
  const planing = { ...trip, hullType: 'planing' }
  const problem = await getProblem('distance', { ...planing, referenceSpeedKn: 12 })
  t.same(problem.paths, ['referenceSpeedKn'])
  t.match(
    messageAt(problem, 'referenceSpeedKn'),
    /planing hull.*propeller law.*enter the consumption at the average speed/,
  )
  t.same(
    (await getProblem('distance', { ...planing, referenceSpeedKn: 1 })).paths,
    ['referenceSpeedKn'],
    'once',
  )
  t.equal((await estimate('distance', planing)).co2eKg, (await estimate('distance', trip)).co2eKg)
  const displacement = { ...trip, hullType: 'displacement', referenceSpeedKn: 12 }
  t.ok((await estimate('distance', displacement)).co2eKg > 0)
})

t.test('returns a custom amount unchanged, with null for other values', async (t) => {
  const found = await estimate('custom', {
    amount: 250,
    unit: 'kg',
    description: 'Charter, June',
  })
  t.equal(found.co2eKg, 250)
  for (const name of [
    'wellToTankCo2eKg',
    'tankToWakeCo2eKg',
    'fuelLitres',
    'fuelKg',
    'hours',
  ] as const) {
    t.equal(found[name], null, name)
  }
  t.same(found.factors, [])
  t.equal((await estimate('fuel', fuel)).hours, null, 'the fuel calculator has no hours')
})

t.test('lists every factor needed to repeat the calculation', async (t) => {
  for (const fuelType of PUBLISHED_FUELS) {
    const found = await estimate('fuel', { fuelType, quantity: 1234.5, unit: 'l' })
    t.ok(
      found.factors.every(({ name, unit, source }) => name && unit && source),
      `${fuelType}: every factor has a name, a unit and a source`,
    )
    const factor = (name: string) => {
      const match = found.factors.find((one) => one.name === name)
      if (!match) throw new Error(`${fuelType} has no ${name}`)
      return match.value
    }
    const has = (name: string) => found.factors.some((one) => one.name === name)
    const kilograms = 1234.5 * factor('Density')
    let wellToTank, tankToWake
    if (has('Lower calorific value')) {
      const slip = has('Methane slip') ? factor('Methane slip') : 0
      const combustion =
        factor('Tank-to-wake CO2') +
        factor('Tank-to-wake CH4') * factor('GWP100 of CH4') +
        factor('Tank-to-wake N2O') * factor('GWP100 of N2O')
      wellToTank = (kilograms * factor('Lower calorific value') * factor('Well-to-tank')) / 1000
      tankToWake = kilograms * ((1 - slip) * combustion + slip * factor('GWP100 of CH4'))
    } else {
      wellToTank = 1234.5 * factor('Well-to-tank')
      tankToWake = 1234.5 * factor('Tank-to-wake')
    }
    t.ok(near(found.fuelKg, kilograms, 1e-12), `${fuelType}: mass`)
    t.ok(nearGram(found.wellToTankCo2eKg, wellToTank), `${fuelType}: well-to-tank`)
    t.ok(nearGram(found.tankToWakeCo2eKg, tankToWake), `${fuelType}: tank-to-wake`)
    t.ok(nearGram(found.co2eKg, wellToTank + tankToWake), `${fuelType}: well-to-wake`)
    t.match(found.method, /Well-to-wake/)
    t.ok(found.dataset)
  }
})

t.test(
  'returns a finite positive result that is the sum of its parts, for any valid data',
  async () => {
    await fc.assert(
      fc.asyncProperty(calculation, async (any) => {
        const { calculatorType, calculatorData } = any
        const found = await estimate(calculatorType, { ...calculatorData })
        assert.deepEqual(found, calculateEstimate(any))
        if (!(Number.isFinite(found.co2eKg) && found.co2eKg > 0)) return false
        if (calculatorType === 'custom') return true
        const { wellToTankCo2eKg, tankToWakeCo2eKg } = found
        if (wellToTankCo2eKg === null || tankToWakeCo2eKg === null) return false
        // Each is rounded on its own.
        const masses = [found.co2eKg, wellToTankCo2eKg, tankToWakeCo2eKg]
        const roundings = masses.map((mass) => (Math.abs(mass) < 10 ? Math.abs(mass) * 1e-5 : 6e-4))
        const difference = Math.abs(found.co2eKg - wellToTankCo2eKg - tankToWakeCo2eKg)
        return difference <= roundings.reduce((sum, rounding) => sum + rounding)
      }),
      { numRuns: 300 },
    )
  },
)

t.test('never returns zero for a tiny amount', async (t) => {
  const cases: [string, Data][] = [
    ['fuel', { fuelType: 'hvo', quantity: 5e-324, unit: 'l' }],
    ['distance', { ...trip, distance: 5e-324 }],
    ['distance', { ...trip, fuelType: 'hvo', consumption: 5e-324 }],
    ['custom', { amount: 5e-324, unit: 'kg' }],
  ]
  for (const [type, data] of cases) {
    const { status, body } = await postJson(endpoint(type), data)
    const isPositive = status === 200 && (body as Estimate).co2eKg > 0
    t.ok(status === 422 || isPositive, `${type} ${JSON.stringify(data)} is ${status}`)
  }
})

t.test('reports every invalid field at once, with path and message', async (t) => {
  const three = await getProblem('fuel', { fuelType: 'coal', quantity: -1, unit: 'barrel' })
  t.same(three.paths, ['fuelType', 'quantity', 'unit'])
  t.match(messageAt(three, 'fuelType'), /mgo.*hvo/, 'lists the choices')
  t.match(messageAt(three, 'quantity'), /than 0/)
  t.match(three.detail, /fuelType.*quantity.*unit/)

  t.same((await getProblem('fuel', {})).paths, ['fuelType', 'quantity', 'unit'])
  t.same((await getProblem('custom', {})).paths, ['amount', 'unit'])
  t.same((await getProblem('distance', {})).paths, [
    'consumption',
    'consumptionUnit',
    'distance',
    'distanceUnit',
    'fuelType',
    'speedKn',
  ])
  t.same(
    (await getProblem('distance', { ...trip, speedKn: 0.001, generatorHours: 5, fuelType: 'coal' }))
      .paths,
    ['fuelType', 'generatorLitresPerHour', 'speedKn'],
    'includes cross-field errors',
  )
})

t.test('rejects values of the wrong type or out of range', async (t) => {
  const invalid: [string, Data, string][] = [
    ['fuel', { ...fuel, quantity: '500' }, 'quantity'],
    ['fuel', { ...fuel, quantity: null }, 'quantity'],
    ['fuel', { ...fuel, quantity: true }, 'quantity'],
    ['fuel', { ...fuel, quantity: [500] }, 'quantity'],
    ['fuel', { ...fuel, quantity: 0 }, 'quantity'],
    ['fuel', { ...fuel, quantity: 10_000_001 }, 'quantity'],
    ['fuel', { ...fuel, quantity: 100_001, unit: 't' }, 'quantity'],
    ['fuel', { ...fuel, quantity: 100_001, unit: 'm3' }, 'quantity'],
    ['fuel', { ...fuel, fuelType: 1 }, 'fuelType'],
    ['fuel', { ...fuel, unit: 'toString' }, 'unit'],
    ['custom', { ...custom, amount: 1_000_001 }, 'amount'],
    ['custom', { amount: 1_000_000_001, unit: 'kg' }, 'amount'],
    ['custom', { ...custom, description: '' }, 'description'],
    ['custom', { ...custom, description: ' \t ' }, 'description'],
    ['custom', { ...custom, description: 'x'.repeat(121) }, 'description'],
    ['custom', { ...custom, description: 'two\nlines' }, 'description'],
    ['custom', { ...custom, description: 5 }, 'description'],
    ['distance', { ...trip, distance: 100_001, speedKn: 20 }, 'distance'],
    ['distance', { ...trip, speedKn: 101 }, 'speedKn'],
    ['distance', { ...trip, speedKn: '10' }, 'speedKn'],
    ['distance', { ...trip, consumption: 100_001 }, 'consumption'],
    ['distance', { ...trip, referenceSpeedKn: -12 }, 'referenceSpeedKn'],
    ['distance', { ...trip, generatorLitresPerHour: 10_001 }, 'generatorLitresPerHour'],
    ['distance', { ...trip, generatorLitresPerHour: -1 }, 'generatorLitresPerHour'],
    ['distance', { ...trip, generatorLitresPerHour: 1, generatorHours: -1 }, 'generatorHours'],
    ['distance', { ...trip, generatorLitresPerHour: 1, generatorHours: 8_785 }, 'generatorHours'],
  ]
  const mismatches: object[] = []
  for (const [type, data, path] of invalid) {
    const problem = await getProblem(type, data)
    const isReported = problem.paths.length === 1 && messageAt(problem, path) !== ''
    if (!isReported) mismatches.push({ data, path, paths: problem.paths })
  }
  t.same(mismatches, [])
  t.match(
    messageAt(await getProblem('fuel', { ...fuel, quantity: 10_000_001 }), 'quantity'),
    /10000000/,
  )
  t.match(
    messageAt(await getProblem('fuel', { ...fuel, quantity: 100_000_000, unit: 't' }), 'quantity'),
    /100000(?!0)/,
    'the limit of the unit',
  )

  const largest: [string, Data][] = [
    ['fuel', { ...fuel, quantity: 10_000_000 }],
    ['fuel', { ...fuel, quantity: 100_000, unit: 't' }],
    ['custom', { amount: 1_000_000_000, unit: 'kg' }],
    ['custom', { amount: 1_000_000, unit: 't', description: '🚢'.repeat(120) }],
    ['distance', { ...trip, distance: 100_000, speedKn: 100, consumption: 100_000 }],
  ]
  for (const [type, data] of largest) {
    t.ok(Number.isFinite((await estimate(type, data)).co2eKg), JSON.stringify(data).slice(0, 80))
  }
  const infinite = await postText(endpoint('custom'), '{"amount":1e999,"unit":"kg"}')
  t.equal(infinite.status, 422, 'a number that overflows')
})

t.test('rejects an implausible trip', async (t) => {
  const slow = await getProblem('distance', { ...trip, speedKn: 0.0001 })
  t.same(slow.paths, ['speedKn'])
  t.match(messageAt(slow, 'speedKn'), /longer than a year/)
  for (const referenceSpeedKn of [2.4, 41]) {
    t.same((await getProblem('distance', { ...trip, referenceSpeedKn })).paths, [
      'referenceSpeedKn',
    ])
  }
  for (const referenceSpeedKn of [2.5, 40]) {
    t.ok((await estimate('distance', { ...trip, referenceSpeedKn })).co2eKg > 0)
  }
})

t.test('skips cross-field rules of fields that are out of range', async (t) => {
  const fast = { ...trip, speedKn: 120, referenceSpeedKn: 12 }
  t.same((await getProblem('distance', fast)).paths, ['speedKn'])
  const far = { ...trip, distance: 5e9, consumption: 90_000 }
  t.same((await getProblem('distance', far)).paths, ['distance'])
  const largeGenerator = { ...trip, generatorLitresPerHour: 20_000, generatorHours: 3 }
  t.same((await getProblem('distance', largeGenerator)).paths, ['generatorLitresPerHour'])
  const slowest = { ...trip, distance: 80_000, consumption: 60_000 }
  for (const referenceSpeedKn of [400, '40', 1]) {
    const { paths } = await getProblem('distance', { ...slowest, referenceSpeedKn })
    t.same(paths, ['referenceSpeedKn'], `${referenceSpeedKn}`)
  }
  const hours = (await getProblem('distance', { ...trip, generatorHours: 9_000 })).paths
  t.same(hours, ['generatorHours', 'generatorLitresPerHour'])
  const unrelated = { ...trip, speedKn: 120, generatorHours: 3, distanceUnit: 'ly' }
  const { paths } = await getProblem('distance', unrelated)
  t.same(
    paths,
    ['distanceUnit', 'generatorLitresPerHour', 'speedKn'],
    'independent rules still apply',
  )
})

t.test('accepts the reference speeds that its error message suggests', async (t) => {
  for (const speedKn of [60, 7.3, 12.7, 6.3, 8.7, 10.01, 9.99, 0.0333]) {
    const rejected = await getProblem('distance', {
      ...trip,
      distance: 1,
      speedKn,
      referenceSpeedKn: speedKn / 5,
    })
    const advice = messageAt(rejected, 'referenceSpeedKn')
    const [, ...ends] = /between ([\d.]+) and ([\d.]+) knots/.exec(advice) ?? []
    t.equal(ends.length, 2, advice)
    for (const end of ends) {
      const data = { ...trip, distance: 1, speedKn, referenceSpeedKn: Number(end) }
      t.ok((await estimate('distance', data)).co2eKg > 0, `${end} for ${speedKn}`)
    }
  }
})

t.test('rejects unknown fields', async (t) => {
  const problem = await getProblem('fuel', { ...fuel, densty: 0.9, 'a/b~c': 1 })
  t.same(problem.paths, ['a/b~c', 'densty'])
  t.match(messageAt(problem, 'densty'), /not a known field/)
  t.same((await getProblem('custom', { ...custom, vessel: { name: 'x' } })).paths, ['vessel'])
  t.same((await getProblem('fuel', { ...fuel, constructor: 1 })).paths, ['constructor'])
})

t.test('rejects a body with prototype keys as malformed', async (t) => {
  for (const body of [
    '{"__proto__":{"quantity":1},"fuelType":"mgo","quantity":1,"unit":"l"}',
    '{"fuelType":"mgo","quantity":1,"unit":"l","constructor":{"prototype":{"x":1}}}',
  ]) {
    const response = await postText(endpoint('fuel'), body)
    t.equal(response.status, 400)
    t.match(response.headers.get('content-type'), /^application\/problem\+json/)
  }
  t.equal(({} as Data).x, undefined)
})

t.test('distinguishes malformed bodies from invalid fields', async (t) => {
  const post = (body: string | null, type: string | null) =>
    fetch(endpoint('fuel'), {
      method: 'POST',
      // fetch sets a content type for text, but not for a Uint8Array.
      body: body === null ? null : new TextEncoder().encode(body),
      headers: type === null ? {} : { 'content-type': type },
    })
  const json = JSON.stringify(fuel)
  const cases: [string, Response, number][] = [
    ['half an object', await post('{"fuelType":', 'application/json'), 400],
    ['an empty JSON body', await post('', 'application/json'), 400],
    ['an array', await post('[]', 'application/json'), 422],
    ['null', await post('null', 'application/json'), 422],
    ['text in JSON', await post('"x"', 'application/json'), 422],
    ['XML', await post('<fuel/>', 'application/xml'), 415],
    ['a form', await post('quantity=1', 'application/x-www-form-urlencoded'), 415],
    ['plain text', await post(json, 'text/plain'), 415],
    ['an unnamed type', await post(json, null), 415],
    [
      'a body over the limit',
      await post(JSON.stringify({ a: 'x'.repeat(20_000) }), 'application/json'),
      413,
    ],
    ['JSON with a character set', await post(json, 'application/json; charset=utf-8'), 200],
  ]
  for (const [name, response, status] of cases) {
    t.equal(response.status, status, name)
    if (status !== 200) t.match(response.headers.get('content-type'), /^application\/problem\+json/)
  }
})

t.test('returns problem details with a request id for every error', async (t) => {
  const responses = await Promise.all([
    postText(endpoint('fuel'), '{'),
    postText(endpoint('fuel'), '{}'),
    postText(endpoint('boat'), '{}'),
    fetch(endpoint('fuel')),
  ])
  t.same(
    responses.map(({ status }) => status),
    [400, 422, 404, 405],
  )
  for (const response of responses) {
    t.match(response.headers.get('content-type'), /^application\/problem\+json/)
    const problem = (await response.json()) as Problem
    t.equal(problem.status, response.status)
    t.ok(problem.requestId)
    t.equal(problem.requestId, response.headers.get('x-request-id'))
    t.ok(problem.type && problem.title && problem.detail)
    t.notMatch(JSON.stringify(problem), /node_modules|\.js:|stack/, 'no internals')
  }
})

t.test('returns 405 with the allowed methods', async (t) => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const response = await fetch(endpoint('fuel'), { method })
    t.equal(response.status, 405, method)
    t.equal(response.headers.get('allow'), 'POST', method)
  }
  const posted = await postText(`${url}/api/calculators`, '{}')
  t.equal(posted.status, 405)
  t.match(posted.headers.get('allow'), /GET/)
  t.equal((await postJson(endpoint('toString'), fuel)).status, 404)
  t.equal((await postJson(endpoint('__proto__'), fuel)).status, 404)
})

t.test('lists calculators with schemas, fuels and factors', async (t) => {
  const response = await fetch(`${url}/api/calculators`)
  t.equal(response.status, 200)
  interface Catalogue {
    calculators: {
      calculatorType: 'fuel' | 'distance' | 'custom'
      title: string
      schema: Record<string, unknown>
    }[]
    fuels: { fuelType: string; name: string; factors: Estimate['factors'] }[]
    dataset: string
  }
  const catalogue = (await response.json()) as Catalogue
  t.same(
    catalogue.calculators.map(({ calculatorType }) => calculatorType),
    ['fuel', 'distance', 'custom'],
  )
  const ajv = new Ajv({ strict: false, validateFormats: false })
  for (const { calculatorType, title, schema } of catalogue.calculators) {
    t.ok(title)
    const validate = ajv.compile(schema)
    t.ok(
      validate(TYPICAL_CALCULATIONS[calculatorType].calculatorData),
      `${calculatorType} accepts a typical trip`,
    )
    t.notOk(
      validate({ ...TYPICAL_CALCULATIONS[calculatorType].calculatorData, more: 1 }),
      'and no additional field',
    )
    t.notOk(validate({}), 'and not an empty object')
    const examples = schema.examples as unknown[]
    t.ok(
      examples.length > 0 && examples.every((example) => validate(example)),
      'its examples are valid',
    )
    t.ok(
      Object.values(schema.properties as Record<string, { description?: string }>).every(
        ({ description }) => description,
      ),
      `${calculatorType} describes each field`,
    )
  }
  t.same(
    catalogue.fuels.map(({ fuelType }) => fuelType),
    BURNT_FUEL_TYPES,
  )
  for (const { fuelType, name, factors } of catalogue.fuels) {
    t.ok(name)
    if (fuelType === 'fame') continue
    const { factors: used, dataset } = await estimate('fuel', { ...fuel, fuelType })
    t.same(factors, used, `${fuelType}: lists the factors used`)
    t.equal(dataset, catalogue.dataset)
  }
  t.ok(
    catalogue.fuels
      .filter(({ fuelType }) => ['lfo', 'methanol', 'fame'].includes(fuelType))
      .every(({ factors }) => factors[0]?.source.includes('typical industry value')),
    'marks densities that are not from a standard',
  )
})
