import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { formatDuration, roundToTotal } from '../../src/calculator/breakdown-view.js'
import { buildCalculationSteps } from '../../src/calculator/calculation-steps.js'
import type { Calculation } from '../../src/calculator/calculator-data.js'
import { parseCalculatorForm, toCalculatorForm } from '../../src/calculator/calculator-form.js'
import { calculateEstimate } from '../../src/calculator/estimate.js'
import {
  buildResultView,
  toCarKilometres,
  toGasCubeEdge,
} from '../../src/calculator/result-view.js'
import { parseImoNumber } from '../../src/calculator/vessel.js'
import {
  createNumberFormatter,
  getNumberFormatter,
} from '../../src/core/formatting/number-formatter.js'
import { parseNumber } from '../../src/core/formatting/number-input.js'
import {
  calculation,
  imoNumber,
  REAL_VESSELS,
  TYPICAL_CALCULATIONS,
} from '../support/calculations.js'

const numbers = getNumberFormatter('en-GB')
const LOCALES = ['en-GB', 'en-US', 'de-DE', 'fr-FR', 'de-CH', 'nb-NO', 'pt-PT', 'pl-PL', 'ja-JP']

const buildSteps = (one: Calculation) =>
  buildCalculationSteps(one, numbers).flatMap(({ steps }) => steps)

t.test('parses IMO numbers of real ships in every notation', async (t) => {
  for (const { imoNumber = '' } of REAL_VESSELS) t.equal(parseImoNumber(imoNumber), imoNumber)
  t.equal(parseImoNumber('9074729'), '9074729')
  for (const written of ['IMO 9811000', 'IMO9811000', 'imo 9811000', 'Imo9811000', '  9811000 ']) {
    t.equal(parseImoNumber(written), '9811000', written)
  }
})

t.test('rejects invalid IMO numbers', async (t) => {
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

t.test('rejects an IMO number with a wrong check digit', async () => {
  fc.assert(
    fc.property(imoNumber, fc.integer({ min: 1, max: 9 }), (digits, step) => {
      const last = (Number(digits[6]) + step) % 10
      return (
        parseImoNumber(digits) === digits && parseImoNumber(`${digits.slice(0, 6)}${last}`) === null
      )
    }),
  )
})

t.test('parses numbers in the notations of many countries', async (t) => {
  const cases: [string, number][] = [
    ['1234.5', 1234.5],
    ['1234,5', 1234.5],
    ['1 234,5', 1234.5],
    ['1\u00a0234,5', 1234.5],
    ['1\u202f234,5', 1234.5],
    ["1'234.5", 1234.5],
    ['1’234,5', 1234.5],
    ['1ʼ234,5', 1234.5],
    ['1\u2009234.5', 1234.5],
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
  t.same(
    cases.map(([text]) => [text, parseNumber(text)]),
    cases.map(([text, value]) => [text, { ok: true, value, otherValue: null }]),
  )
})

t.test('rejects an ambiguous comma and suggests both readings', async (t) => {
  for (const [text, ways] of [
    ['1,234', '1234 or 1.234. Enter 1234 or 1.2340.'],
    ['12.345', '12345 or 12.345. Enter 12345 or 12.3450.'],
    ['123,450', '123450 or 123.450. Enter 123450 or 123.45.'],
    ['-1,234', '-1234 or -1.234. Enter -1234 or -1.2340.'],
  ] as const) {
    t.match(parseNumber(text), { ok: false, message: `${text} could mean ${ways}` })
    const [, whole = '', decimal = ''] = /Enter (.+) or (.+)\.$/.exec(ways) ?? []
    for (const suggestion of [whole, decimal]) t.ok(parseNumber(suggestion).ok, suggestion)
  }
})

t.test('parses the digits and signs of any script, and grouping as in India', async (t) => {
  for (const [text, value] of [
    ['١٢٣٤', 1234],
    ['۱۲۳۴', 1234],
    ['१२३४', 1234],
    ['１２３４．５', 1234.5],
    ['١٬٢٣٤٫٥', 1234.5],
    ['١٬٢٣٤', 1234],
    ['١٫٢٣٤', 1.234],
    ['۱۲،۵', 12.5],
    ['১২৩৪', 1234],
    ['၁၂၃၄', 1234],
    ['＋５', 5],
    ['\u200f١٢٣\u200f', 123],
    ['−5', -5],
    ['12,34,567', 1_234_567],
    ['1,23,45,678.9', 12_345_678.9],
  ] as const) {
    t.same(parseNumber(text), { ok: true, value, otherValue: null }, text)
  }
  for (const text of ['1,2,345', '12,34,56', '12.34.567', '123,45,678']) {
    t.equal(parseNumber(text).ok, false, text)
  }
})

t.test('accepts a number with the unit of its field', async (t) => {
  const fuel = (quantity: string, unit = 'l', fuelType = 'mgo') =>
    parseCalculatorForm('fuel', {
      ...{ quantity, unit, fuelType },
      ...(fuelType === 'mgo' ? {} : { kgCo2ePerKwh: '0.2 kg/kWh', factorSource: 'meter' }),
    })
  for (const quantity of ['500 L', '500L', '500 litres', '٥٠٠ l', '500\u00a0l', '５００Ｌ']) {
    t.match(fuel(quantity).calculation, { calculatorData: { quantity: 500 } }, quantity)
  }
  t.match(fuel('12 m³', 'm3').calculation, { calculatorData: { quantity: 12 } })
  t.match(fuel('500 kWh', '', 'electricity').calculation, { calculatorData: { quantity: 500 } })
  const trip = { distance: '12 nm', speedKn: '8kn', consumption: '20 l/h', fuelType: 'mgo' }
  t.match(parseCalculatorForm('distance', trip).calculation, {
    calculatorData: { distance: 12, speedKn: 8, consumption: 20 },
  })
  for (const quantity of ['500 kg', '500 x', 'l', '5 l l']) {
    t.match(fuel(quantity).errors, { quantity: 'must be a number' }, quantity)
  }
})

t.test('rejects text that is not a number', async (t) => {
  const accepted = [
    '',
    ' ',
    'abc',
    '1,2,3',
    '1.2.3',
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
    '1/2',
  ].filter((text) => parseNumber(text).ok)
  t.same(accepted, [])
})

t.test('parses the string form of any number exactly', async (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const read = parseNumber(String(value))
      return read.ok && Object.is(read.value, value === 0 ? 0 : value)
    }),
    { numRuns: 2000 },
  )
  t.match(parseNumber('-0.0000001'), { ok: true, value: -1e-7 })
})

t.test('parses every amount as its locale writes it', async () => {
  const amount = fc.double({ min: 0, max: 1e9, noNaN: true })
  fc.assert(
    fc.property(amount, fc.constantFrom(...LOCALES), (value, locale) => {
      const rounded = Number(value.toFixed(2))
      const read = parseNumber(getNumberFormatter(locale).decimal(rounded, 2))
      return read.ok && read.value === rounded
    }),
  )
})

t.test('parses field values as they are filled in', async () => {
  fc.assert(fc.property(calculation, (one) => toCalculatorForm(one).calculation !== null))
})

t.test('formats numbers in the notation of the locale', async (t) => {
  const german = createNumberFormatter('de-DE')
  t.same(
    [numbers, german].map((formatter) => [
      formatter.decimal(1234567.891, 2),
      formatter.decimal(0, 2),
      formatter.whole(9999.4),
      formatter.significant(3306.27),
      formatter.significant(0.123456),
      formatter.significant(12),
      formatter.exact(0.00018),
      formatter.exact(3.785411784),
      formatter.percent(0.84),
    ]),
    [
      ['1,234,567.89', '0.00', '9,999', '3,306', '0.1235', '12', '0.00018', '3.785411784', '84%'],
      [
        '1.234.567,89',
        '0,00',
        '9.999',
        '3.306',
        '0,1235',
        '12',
        '0,00018',
        '3,785411784',
        '84\u00a0%',
      ],
    ],
  )
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (value) => {
      const read = Number(numbers.significant(value).replaceAll(',', ''))
      return Math.abs(read - value) <= value * 6e-4
    }),
  )
})

t.test('shows masses from ten tonnes on in tonnes', async (t) => {
  const massOf = (amount: number) =>
    buildResultView({ calculatorType: 'custom', calculatorData: { amount, unit: 'kg' } }, numbers)
      .mass
  t.same(massOf(9999), { value: '9,999', unit: 'kg' })
  t.same(massOf(12_340), { value: '12.34', unit: 't' })
})

t.test('gives a blank form defaults, no errors and its missing fields', async (t) => {
  const fuel = parseCalculatorForm('fuel', {})
  t.equal(fuel.values.fuelType, 'mgo')
  t.equal(fuel.values.unit, 'l')
  t.same(fuel.errors, {})
  t.same(fuel.missing, ['quantity'])
  t.equal(fuel.calculation, null)
  t.same(parseCalculatorForm('distance', {}).missing, ['distance', 'speedKn', 'consumption'])
  t.same(parseCalculatorForm('custom', {}).missing, ['amount'])
})

t.test('turns a complete form into a calculation without blank optional fields', async (t) => {
  const form = parseCalculatorForm('distance', {
    fuelType: 'hvo',
    distance: '222,24',
    distanceUnit: 'km',
    speedKn: ' 10 ',
    consumption: '1.060,5',
    consumptionUnit: 'l/h',
    referenceSpeedKn: '',
    generatorLitresPerHour: ' ',
    vesselName: 'not a field of this form',
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

t.test('keeps invalid values as typed, with an error per field', async (t) => {
  const form = parseCalculatorForm('distance', {
    fuelType: 'coal',
    distance: '1,234',
    speedKn: 'fast',
    consumption: '-5',
    consumptionUnit: 'l/h',
  })
  t.same(Object.keys(form.errors).sort(), ['consumption', 'distance', 'fuelType', 'speedKn'])
  t.match(form.errors.distance, /could mean 1234 or/)
  t.match(form.errors.speedKn, /number/)
  t.match(form.values, { distance: '1,234', speedKn: 'fast', consumption: '-5', fuelType: 'coal' })
  t.same(form.missing, [])
  t.equal(form.calculation, null)
})

t.test('gives no calculation while an optional field is invalid', async (t) => {
  const usual = toCalculatorForm(TYPICAL_CALCULATIONS.distance).values
  const form = parseCalculatorForm('distance', { ...usual, referenceSpeedKn: 'quick' })
  t.equal(form.calculation, null)
  t.same(Object.keys(form.errors), ['referenceSpeedKn'])
})

t.test('treats a repeated field as blank', async (t) => {
  const form = parseCalculatorForm('fuel', { quantity: ['1', '2'], unit: 'l' })
  t.equal(form.calculation, null)
  t.same(form.missing, ['quantity'])
})

t.test('reads only the fields with the prefix of the form', async (t) => {
  const form = parseCalculatorForm(
    'custom',
    { 'custom.amount': '2', 'custom.unit': 't', amount: '9' },
    { prefix: 'custom.' },
  )
  t.same(form.calculation?.calculatorData, { amount: 2, unit: 't' })
})

const sorted = ({ calculatorType, calculatorData }: Calculation) => [
  calculatorType,
  Object.entries(calculatorData).sort(([a], [b]) => a.localeCompare(b)),
]

t.test('parses the form of a calculation back to the same calculation', async () => {
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

t.test('compares with a typical car and an ideal gas', async (t) => {
  t.ok(Math.abs(toCarKilometres(1000) - 1000 / 0.16152) < 1e-6)
  // 1 kg of CO2 at 15 °C and 101.325 kPa takes 0.5373 m³
  t.ok(Math.abs(toGasCubeEdge(1000) ** 3 - 537.3) < 0.5)
  t.ok(Math.abs(toGasCubeEdge(8000) - 2 * toGasCubeEdge(1000)) < 1e-9)
})

t.test('ends the calculation steps with the result, for any trip', async () => {
  fc.assert(
    fc.property(calculation, (one) => {
      const result = calculateEstimate(one)
      const last = buildSteps(one).findLast(({ label }) => label === 'Well-to-wake')
      const stated = Number(last?.result.replace(' kg CO₂e', '').replaceAll(',', ''))
      return (
        last?.label === 'Well-to-wake' &&
        Math.abs(stated - result.co2eKg) <= Math.max(result.co2eKg * 6e-4, Number.MIN_VALUE)
      )
    }),
  )
})

// Evaluates a formula without its units: brackets, powers, products, sums.
const UNITS =
  /(?:kg CO₂e|g CO₂e|US gal|imp gal|m³|nmi|MJ|kg|km|kn|mi|\bl\b|\bh\b|\bt\b)(?:\/(?:kg|MJ|nmi|l|h))?/g

function evaluate(formula: string): number {
  const tokens =
    formula
      .replaceAll(',', '')
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
  if (tokens.length > 0 || Number.isNaN(value)) throw new Error(`cannot evaluate ${formula}`)
  return value
}

t.test('gives each calculation step a formula that evaluates to its result', async (t) => {
  const { calculatorData: trip } = TYPICAL_CALCULATIONS.distance
  const trips: Calculation[] = [
    TYPICAL_CALCULATIONS.fuel,
    TYPICAL_CALCULATIONS.distance,
    TYPICAL_CALCULATIONS.custom,
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
  const mismatches = trips
    .flatMap((one) => buildSteps(one))
    .filter(({ formula, result }) => {
      const [computed, stated] = [evaluate(formula), evaluate(result)]
      // Numbers are shown with four digits, so products are slightly off.
      return Math.abs(computed - stated) > Math.abs(stated) * 3e-3
    })
  t.same(mismatches, [])
})

t.test('adds the fuel of engines and generators', async (t) => {
  const one: Calculation = {
    calculatorType: 'distance',
    calculatorData: { ...TYPICAL_CALCULATIONS.distance.calculatorData, generatorLitresPerHour: 8 },
  }
  const steps = buildSteps(one)
  t.match(
    steps.find(({ label }) => label === 'Engines'),
    { result: '720 l' },
  )
  t.match(
    steps.find(({ label }) => label === 'Generators'),
    { result: '96 l' },
  )
  t.match(steps.find(({ label }) => label === 'Mass of the fuel')?.formula, /^816 l/)
})

t.test('shows parts whose shares add up to 100%', async () => {
  fc.assert(
    fc.property(calculation, (one) => {
      const { parts, co2eKg } = buildResultView(one, numbers)
      const shares = parts.reduce((sum, { percent }) => sum + percent, 0)
      return co2eKg > 0 && (parts.length === 0 || Math.abs(shares - 100) <= 1)
    }),
  )
})

t.test('parts are rounded so that they add up to the total', async (t) => {
  t.same(roundToTotal([1390.7, 262.6], 1653.3, 0), [1391, 262])
  t.same(
    roundToTotal(
      [1, 1, 1].map((part) => part / 3),
      1,
      2,
    ),
    [0.34, 0.33, 0.33],
  )
  t.same(roundToTotal([5.7, -1.6], 4.1, 0), [6, -2])
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 7 }),
      fc.integer({ min: 0, max: 4 }),
      (parts, decimals) => {
        const total = parts.reduce((sum, part) => sum + part, 0)
        const rounded = roundToTotal(parts, total, decimals)
        const sum = rounded.reduce((all, part) => all + part, 0)
        assert.equal(sum.toFixed(decimals), total.toFixed(decimals))
        for (const [i, part] of parts.entries()) {
          assert.ok(Math.abs((rounded[i] ?? Number.NaN) - part) <= 1.0001 / 10 ** decimals)
        }
      },
    ),
  )
})

t.test('formats durations in hours and minutes', async (t) => {
  const numbers = getNumberFormatter('en-GB')
  const cases: [hours: number, text: string][] = [
    [6.4333, '6 h 26 min'],
    [12, '12 h'],
    [0.5, '30 min'],
    [1.9999, '2 h'],
    [0.001, '< 1 min'],
    [1234.5, '1,235 h'],
  ]
  for (const [hours, text] of cases) {
    t.equal(formatDuration(hours, numbers).replaceAll('\u00a0', ' '), text)
  }
})

t.test('reads ambiguous numbers by the decimal separator of the locale', async (t) => {
  const cases: [text: string, sign: ',' | '.', value: number, otherValue: number | null][] = [
    ['1,500', '.', 1500, 1.5],
    ['1,500', ',', 1.5, 1500],
    ['1.500', '.', 1.5, 1500],
    ['1.500', ',', 1500, 1.5],
    ['1,50', '.', 1.5, null],
    ['1,234.5', ',', 1234.5, null],
    ['0,125', '.', 0.125, null],
  ]
  for (const [text, decimalSign, value, otherValue] of cases) {
    t.same(parseNumber(text, { decimalSign }), { ok: true, value, otherValue }, text)
  }
})

t.test('reads every number in the digits and separators of any script', async () => {
  const LOCALES = [
    ...['ar-EG-u-nu-arab', 'fa-IR', 'hi-IN-u-nu-deva', 'bn-BD', 'my-MM', 'th-TH-u-nu-thai'],
    ...['en-u-nu-fullwide', 'en-IN', 'de-CH', 'fr-FR', 'nb-NO', 'de-DE', 'pt-BR'],
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...LOCALES),
      fc.integer({ min: -9_999_999, max: 9_999_999 }),
      fc.constantFrom(0, 1, 2),
      fc.constantFrom('', 'l', ' L', ' litres'),
      (locale, digits, decimals, unit) => {
        const value = digits / 10 ** decimals
        const text = new Intl.NumberFormat(locale, { minimumFractionDigits: decimals }).format(
          value,
        )
        const parsed = parseNumber(text + unit, { units: ['litres', 'l'] })
        // Without a decimal sign, one separator before three digits has two meanings.
        return parsed.ok
          ? parsed.value === value
          : parsed.readings?.includes(value) === true && decimals === 0
      },
    ),
  )
})

t.test('shows entered quantities with all their digits', async (t) => {
  const numbers = getNumberFormatter('en-GB')
  const getFacts = (quantity: number, unit: 'l' | 'kg' | 't') =>
    buildResultView(
      { calculatorType: 'fuel', calculatorData: { fuelType: 'mgo', quantity, unit } },
      numbers,
    ).facts.map(({ value }) => value.replaceAll('\u00a0', ' '))
  t.equal(getFacts(1500.5, 'l')[0], '1,500.5 l')
  t.equal(getFacts(1500.5, 'kg')[1], '1,500.5 kg')
  t.equal(getFacts(1.23456, 't')[1], '1.23456 t')
})
