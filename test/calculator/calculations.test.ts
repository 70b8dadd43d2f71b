import fc from 'fast-check'
import t from 'tap'
import type { Calculation } from '../../src/calculator/calculator-data.js'
import { toCalculatorForm, parseCalculatorForm } from '../../src/calculator/calculator-form.js'
import { compareWithCar } from '../../src/calculator/car-comparison.js'
import { calculateEstimate } from '../../src/calculator/estimate.js'
import { parseImoNumber } from '../../src/calculator/imo-number.js'
import {
  formatExact,
  formatMass,
  formatHundredths,
  formatSignificant,
  parseNumber,
} from '../../src/calculator/number-format.js'
import { buildResultView } from '../../src/calculator/result-view.js'
import { buildCalculationSteps } from '../../src/calculator/calculation-steps.js'
import { calculation, imoNumber, REAL_VESSELS, USUAL } from '../support/calculations.js'

t.test('IMO numbers of real ships are read, however people write them', async (t) => {
  for (const { imoNumber = '' } of REAL_VESSELS) t.equal(parseImoNumber(imoNumber), imoNumber)
  t.equal(parseImoNumber('9074729'), '9074729')
  for (const written of ['IMO 9811000', 'IMO9811000', 'imo 9811000', 'Imo9811000', '  9811000 ']) {
    t.equal(parseImoNumber(written), '9811000', written)
  }
})

t.test('what is no IMO number is not read as one', async (t) => {
  for (const wrong of [
    '8712345',
    '0000000',
    '',
    'IMO',
    '981100',
    '98110000',
    '9811O00',
    '9811000x',
    'IMO  9811000',
    'IMO-9811000',
    '9 811 000',
    '٩٨١١٠٠٠',
    '-811000',
    '9811000\n9811000',
  ]) {
    t.equal(parseImoNumber(wrong), null, JSON.stringify(wrong))
  }
})

t.test('one wrong digit is noticed wherever the weights let it be', async () => {
  fc.assert(
    fc.property(imoNumber, fc.integer({ min: 1, max: 9 }), (digits, step) => {
      const last = (Number(digits[6]) + step) % 10
      return (
        parseImoNumber(digits) === digits && parseImoNumber(`${digits.slice(0, 6)}${last}`) === null
      )
    }),
  )
})

t.test('numbers are read as people of many countries type them', async (t) => {
  const readings: [string, number][] = [
    ['1234.5', 1234.5],
    ['1234,5', 1234.5],
    ['1 234,5', 1234.5],
    ['1\u00a0234,5', 1234.5],
    ['1\u202f234,5', 1234.5],
    ["1'234.5", 1234.5],
    ['1’234,5', 1234.5],
    ['1,234.5', 1234.5],
    ['1.234,5', 1234.5],
    ['1,234,567', 1_234_567],
    ['1.234.567', 1_234_567],
    ['1.234.567,89', 1_234_567.89],
    ['1,234,567.89', 1_234_567.89],
    ['1234,567', 1234.567],
    ['0,123', 0.123],
    ['0.123', 0.123],
    ['1,23', 1.23],
    ['1,2345', 1.2345],
    ['12 345,678', 12_345.678],
    ['.5', 0.5],
    [',5', 0.5],
    ['5.', 5],
    [' 42 ', 42],
    ['+7', 7],
    ['-7', -7],
    ['1e3', 1000],
    ['1E-3', 0.001],
  ]
  for (const [text, value] of readings) {
    t.same(parseNumber(text), { ok: true, value }, JSON.stringify(text))
  }
})

t.test('a comma that could mean two things is asked about, not guessed', async (t) => {
  for (const [text, ways] of [
    ['1,234', /1234 or 1\.234/],
    ['12,345', /12345 or 12\.345/],
    ['123,456', /123456 or 123\.456/],
    ['-1,234', /-1234 or -1\.234/],
  ] as const) {
    const read = parseNumber(text)
    t.ok(!read.ok && ways.test(read.message), text)
  }
})

t.test('what is no number is refused', async (t) => {
  for (const text of [
    '',
    ' ',
    'abc',
    '1,2,3',
    '1.2.3',
    '12,34,567',
    '1,23.4',
    '1.234,5.6',
    '1,234.5,6',
    '.',
    ',',
    '-',
    'e5',
    '1e',
    '0x10',
    '1_000',
    '5 l',
    'NaN',
    'Infinity',
    '1e999',
    '--1',
    '٣',
    '1/2',
  ]) {
    t.notOk(parseNumber(text).ok, JSON.stringify(text))
  }
})

t.test('a number written by a machine is read back exactly', async (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const read = parseNumber(String(value))
      return read.ok && Object.is(read.value, value === 0 ? 0 : value)
    }),
    { numRuns: 2000 },
  )
  t.same(parseNumber('-0.0000001'), { ok: true, value: -1e-7 })
})

t.test('a number that we show is one that we read', async () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (value) => {
      const rounded = Number(value.toFixed(2))
      const read = parseNumber(formatHundredths(rounded))
      return read.ok && read.value === rounded
    }),
  )
})

t.test('numbers are grouped so that no reader takes them for a thousandth', async (t) => {
  t.equal(formatHundredths(1234567.891), '1\u202f234\u202f567.89')
  t.equal(formatHundredths(0), '0.00')
  t.equal(formatSignificant(3306.27), '3\u202f306')
  t.equal(formatSignificant(0.123456), '0.1235')
  t.equal(formatSignificant(12), '12')
  t.equal(formatExact(0.00018), '0.00018')
  t.equal(formatExact(3.785411784), '3.785411784')
  t.same(formatMass(9999), { value: '9\u202f999', unit: 'kg' })
  t.same(formatMass(12_340), { value: '12.34', unit: 't' })
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (value) => {
      const read = Number(formatSignificant(value).replaceAll('\u202f', ''))
      return Math.abs(read - value) <= value * 6e-4
    }),
  )
})

t.test('a blank form has defaults, no errors, and knows what it still needs', async (t) => {
  const fuel = parseCalculatorForm('fuel', {})
  t.equal(fuel.values.fuelType, 'mgo')
  t.equal(fuel.values.unit, 'l')
  t.same(fuel.errors, {})
  t.same(fuel.missing, ['quantity'])
  t.equal(fuel.calculation, null)
  t.same(parseCalculatorForm('distance', {}).missing, ['distance', 'speedKn', 'consumption'])
  t.same(parseCalculatorForm('custom', {}).missing, ['amount'])
})

t.test('a filled form becomes a calculation, optional blanks left out', async (t) => {
  const form = parseCalculatorForm('distance', {
    fuelType: 'hvo',
    distance: '222,24',
    distanceUnit: 'km',
    speedKn: ' 10 ',
    consumption: '1.060,5',
    consumptionUnit: 'l/h',
    referenceSpeedKn: '',
    generatorLitresPerHour: ' ',
    vesselName: 'not of this form',
  })
  t.same(form.errors, {})
  t.same(form.calculation, {
    calculatorType: 'distance',
    calculatorData: {
      fuelType: 'hvo',
      distance: 222.24,
      distanceUnit: 'km',
      speedKn: 10,
      consumption: 1060.5,
      consumptionUnit: 'l/h',
    },
  })
})

t.test('a wrong form keeps what was typed, with each error beside its field', async (t) => {
  const form = parseCalculatorForm('distance', {
    fuelType: 'coal',
    distance: '1,234',
    speedKn: 'fast',
    consumption: '-5',
    consumptionUnit: 'l/h',
  })
  t.same(Object.keys(form.errors).sort(), ['consumption', 'distance', 'fuelType', 'speedKn'])
  t.match(form.errors.distance, /two ways/)
  t.match(form.errors.speedKn, /number/)
  t.match(form.values, { distance: '1,234', speedKn: 'fast', consumption: '-5', fuelType: 'coal' })
  t.same(form.missing, [])
  t.equal(form.calculation, null)
})

t.test('an unreadable optional field holds the result back', async (t) => {
  const usual = toCalculatorForm(USUAL.distance).values
  const form = parseCalculatorForm('distance', { ...usual, referenceSpeedKn: 'quick' })
  t.equal(form.calculation, null)
  t.same(Object.keys(form.errors), ['referenceSpeedKn'])
})

t.test('a field sent twice counts as blank', async (t) => {
  const form = parseCalculatorForm('fuel', { quantity: ['1', '2'], unit: 'l' })
  t.equal(form.calculation, null)
  t.same(form.missing, ['quantity'])
})

t.test('a form with a prefix reads its own fields only', async (t) => {
  const form = parseCalculatorForm(
    'custom',
    { 'custom.amount': '2', 'custom.unit': 't', amount: '9' },
    'custom.',
  )
  t.same(form.calculation?.calculatorData, { amount: 2, unit: 't' })
})

const sorted = ({ calculatorType, calculatorData }: Calculation) => [
  calculatorType,
  Object.entries(calculatorData).sort(([a], [b]) => a.localeCompare(b)),
]

t.test('a form that shows a calculation reads back as the same calculation', async () => {
  const trimmed = (one: Calculation): Calculation =>
    one.calculatorType === 'custom' && one.calculatorData.description !== undefined
      ? {
          ...one,
          calculatorData: {
            ...one.calculatorData,
            description: one.calculatorData.description.trim(),
          },
        }
      : one
  fc.assert(
    fc.property(calculation, (one) => {
      const form = toCalculatorForm(one)
      if (form.calculation === null) throw new Error(JSON.stringify(form.errors))
      return JSON.stringify(sorted(form.calculation)) === JSON.stringify(sorted(trimmed(one)))
    }),
  )
})

t.test('the comparisons are those of a usual car and an ideal gas', async (t) => {
  const { carKm, cubeEdgeM } = compareWithCar(1000)
  // 0.06 l/km × (2.33984 + 0.60664) kg CO2e/l
  t.ok(Math.abs(carKm - 1000 / 0.1767888) < 1e-6)
  // 1 kg of CO2 at 15 °C and 101.325 kPa takes 0.5373 m³
  t.ok(Math.abs(cubeEdgeM ** 3 - 537.3) < 0.5)
  t.ok(Math.abs(compareWithCar(8000).cubeEdgeM - 2 * cubeEdgeM) < 1e-9)
})

t.test('the working ends in the result that is shown, for any trip', async () => {
  fc.assert(
    fc.property(calculation, (one) => {
      const result = calculateEstimate(one)
      const last = buildCalculationSteps(one).at(-1)
      const stated = Number(last?.result.replace(' kg CO₂e', '').replaceAll('\u202f', ''))
      return (
        last?.label === 'Well-to-wake' &&
        Math.abs(stated - result.co2eKg) <= Math.max(result.co2eKg * 6e-4, Number.MIN_VALUE)
      )
    }),
  )
})

// Units off, powers before products before sums, brackets first: how a person reads a line.
const UNITS =
  /(?:kg CO₂e|g CO₂e|US gal|imp gal|m³|nmi|MJ|kg|km|kn|mi|\bl\b|\bh\b|\bt\b)(?:\/(?:kg|MJ|nmi|l|h))?/g

function worth(sum: string): number {
  const tokens =
    sum
      .replaceAll('\u202f', '')
      .replace(UNITS, '')
      .match(/\d+(?:\.\d+)?|\S/g) ?? []
  const next = () => tokens.shift() ?? ''
  const atom = (): number => {
    const token = next()
    const value = token === '(' ? total() : Number(token)
    if (token === '(') next()
    const power = { '²': 2, '³': 3 }[tokens[0] ?? '']
    if (power !== undefined) next()
    return value ** (power ?? 1)
  }
  const product = (): number => {
    let value = atom()
    while (tokens[0] === '×' || tokens[0] === '÷') {
      value = next() === '×' ? value * atom() : value / atom()
    }
    return value
  }
  const total = (): number => {
    let value = product()
    while (tokens[0] === '+') {
      next()
      value += product()
    }
    return value
  }
  const value = total()
  if (tokens.length > 0 || Number.isNaN(value)) throw new Error(`cannot read ${sum}`)
  return value
}

t.test('each line of the working adds up', async (t) => {
  const { calculatorData: trip } = USUAL.distance
  const trips: Calculation[] = [
    USUAL.fuel,
    USUAL.distance,
    USUAL.custom,
    { calculatorType: 'custom', calculatorData: { amount: 250, unit: 'kg' } },
    ...(['l', 'm3', 'kg', 't', 'gal-us', 'gal-imp'] as const).flatMap((unit) =>
      (['mgo', 'lng', 'petrol', 'hvo'] as const).map((fuelType): Calculation => ({
        calculatorType: 'fuel',
        calculatorData: { fuelType, quantity: 1234.5, unit },
      })),
    ),
    ...(['nmi', 'km', 'mi'] as const).flatMap((distanceUnit) =>
      (['l/h', 'l/nmi'] as const).map((consumptionUnit): Calculation => ({
        calculatorType: 'distance',
        calculatorData: {
          ...trip,
          fuelType: 'lng',
          distanceUnit,
          consumptionUnit,
          referenceSpeedKn: 12,
          generatorLitresPerHour: 8,
          generatorHours: 30,
        },
      })),
    ),
  ]
  for (const one of trips) {
    for (const { label, sum, result } of buildCalculationSteps(one)) {
      const [found, stated] = [worth(sum), worth(result)]
      // Four figures are shown of each number, so products drift a little.
      t.ok(Math.abs(found - stated) <= Math.abs(stated) * 3e-3, `${label}: ${sum} = ${result}`)
    }
  }
})

t.test('fuel and generators both stand in the litres that the working goes on with', async (t) => {
  const one: Calculation = {
    calculatorType: 'distance',
    calculatorData: { ...USUAL.distance.calculatorData, generatorLitresPerHour: 8 },
  }
  const steps = buildCalculationSteps(one)
  t.match(
    steps.find(({ label }) => label === 'Engines'),
    { result: '720 l' },
  )
  t.match(
    steps.find(({ label }) => label === 'Generators'),
    { result: '96 l' },
  )
  t.match(steps.find(({ label }) => label === 'Mass of the fuel')?.sum, /^816 l/)
})

t.test('the parts of a shown result are whole and their shares add up', async () => {
  fc.assert(
    fc.property(calculation, (one) => {
      const { parts, co2eKg } = buildResultView(one, null, undefined)
      const shares = parts.reduce((sum, { percent }) => sum + percent, 0)
      return co2eKg > 0 && (parts.length === 0 || Math.abs(shares - 100) <= 1)
    }),
  )
})

t.test('offsetting is linked to with what the checkout needs and nothing more', async (t) => {
  const checkoutOf = (base: string, vessel: Parameters<typeof buildResultView>[1]) =>
    new URL(buildResultView(USUAL.fuel, vessel, base).checkoutUrl ?? '')
  const url = checkoutOf('https://shop.example.com/offset?lang=nl', {
    name: 'A & B',
    imoNumber: '9811000',
  })
  t.same(Object.fromEntries(url.searchParams), {
    lang: 'nl',
    co2eKg: '1653.135',
    calculatorType: 'fuel',
    vesselName: 'A & B',
    imoNumber: '9811000',
  })
  t.same(
    [...checkoutOf('https://shop.example.com', null).searchParams.keys()],
    ['co2eKg', 'calculatorType'],
  )
  t.equal(buildResultView(USUAL.fuel, null, undefined).checkoutUrl, null)
})
