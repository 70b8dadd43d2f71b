import { toMassUnit, withUnit, type NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Calculation } from './calculator-data.js'
import { getLineName } from './describe-trip.js'
import type { Estimate, Factor } from './estimate-schema.js'
import { FRAMEWORK_NAMES } from './factors/edition.js'
import { getFuelName, type FuelType } from './factors/editions.js'
import { convertKilograms } from './units.js'

/**
 * Rounds parts so that they add up to their rounded total (largest remainder method).
 *
 * @param total sum of the parts
 * @param decimals of the rounded values
 */
export function roundToTotal(parts: number[], total: number, decimals: number): number[] {
  const scale = 10 ** decimals
  // `toFixed` rounds like Intl.NumberFormat, which formats the total.
  const units = Math.round(Number(total.toFixed(decimals)) * scale)
  const scaled = parts.map((part) => part * scale)
  const rounded = scaled.map(Math.floor)
  const getRemainder = (i: number): number => (scaled[i] ?? 0) - (rounded[i] ?? 0)
  const byRemainder = [...parts.keys()].sort((a, b) => getRemainder(b) - getRemainder(a))
  const missing = units - rounded.reduce((sum, part) => sum + part, 0)
  for (const i of byRemainder.slice(0, Math.max(0, missing))) rounded[i] = (rounded[i] ?? 0) + 1
  return rounded.map((part) => part / scale)
}

interface MassFormat {
  unit: 'kg' | 't'
  decimals: number
}

/** Formats the parts so that their masses add up to the total and their shares to 100%. */
function buildParts(
  parts: { label: string; co2eKg: number }[],
  totalKg: number,
  { unit, decimals }: MassFormat,
  numbers: NumberFormatter,
) {
  const toUnit = (kilograms: number): number => convertKilograms(kilograms, unit)
  const kilograms = parts.map(({ co2eKg }) => co2eKg)
  const masses = roundToTotal(kilograms.map(toUnit), toUnit(totalKg), decimals)
  const shares = kilograms.map((part) => (totalKg === 0 ? 0 : (part / totalKg) * 100))
  const percents = roundToTotal(shares, totalKg === 0 ? 0 : 100, 0)
  // Shares are meaningless if parts have different signs.
  const hasShares = totalKg !== 0 && kilograms.every((part) => part >= 0)
  return parts.map(({ label }, i) => ({
    label,
    mass: withUnit(numbers.decimal(masses[i] ?? 0, decimals), unit),
    // For the bar chart
    percent: percents[i] ?? 0,
    share: hasShares ? numbers.percent((percents[i] ?? 0) / 100) : '',
  }))
}

/** `6 h 26 min`; whole hours for 1,000 hours or more. */
export function formatDuration(hours: number, numbers: NumberFormatter): string {
  const minutes = Math.round(hours * 60)
  if (minutes < 1) return withUnit('< 1', 'min')
  if (hours >= 1000) return withUnit(numbers.whole(hours), 'h')
  const texts = [
    ...(minutes >= 60 ? [withUnit(numbers.whole(Math.floor(minutes / 60)), 'h')] : []),
    ...(minutes % 60 > 0 ? [withUnit(numbers.whole(minutes % 60), 'min')] : []),
  ]
  return texts.join(' ')
}

/** Volume and mass of the fuel. A quantity that is shown as entered keeps all its digits. */
function buildFuelFacts(
  { calculatorType, calculatorData }: Calculation,
  { fuelLitres, fuelKg, lines }: Estimate,
  numbers: NumberFormatter,
) {
  const entered = calculatorType === 'fuel' && lines.length === 1 ? calculatorData : null
  const facts: { label: string; value: string }[] = []
  if (fuelLitres !== null) {
    const value = entered?.unit === 'l' ? numbers.exact(entered.quantity) : null
    facts.push({ label: 'Fuel', value: withUnit(value ?? numbers.significant(fuelLitres), 'l') })
  }
  if (fuelKg !== null) {
    const isMass = entered?.unit === 'kg' || entered?.unit === 't'
    const unit = isMass && entered.unit === 't' ? 't' : isMass ? 'kg' : toMassUnit(fuelKg)
    const value = isMass
      ? numbers.exact(entered.quantity)
      : numbers.significant(convertKilograms(fuelKg, unit))
    facts.push({ label: 'Mass of the fuel', value: withUnit(value, unit) })
  }
  return facts
}

function buildBiogenicFact({ gases, lines }: Estimate, numbers: NumberFormatter) {
  // The total is unknown if a blend of the road is among the fuels; the known lines still count.
  const kilograms =
    gases.biogenicCo2Kg ?? lines.reduce((sum, line) => sum + (line.gases.biogenicCo2Kg ?? 0), 0)
  if (kilograms === 0) return []
  const unit = toMassUnit(kilograms)
  const value = withUnit(numbers.significant(convertKilograms(kilograms, unit)), unit)
  return [{ label: 'Biogenic CO₂, not included', value }]
}

/**
 * The biogenic CO2 that tank-to-wake emissions include: that of fuels with a certified value, whose
 * well-to-tank emissions have it deducted.
 */
function sumIncludedBiogenicCo2(
  { calculatorType, calculatorData }: Calculation,
  lines: Estimate['lines'],
) {
  if (calculatorType === 'custom') return 0
  const entered = [calculatorData, ...(calculatorData.furtherLines ?? [])]
  return lines.reduce((sum, { gases }, i) => {
    const isIncluded = entered[i]?.certifiedGCo2ePerMj !== undefined
    return sum + (isIncluded ? (gases.biogenicCo2Kg ?? 0) : 0)
  }, 0)
}

/** The parts of a result and its derived figures, formatted as text. */
export function buildBreakdown(
  calculation: Calculation,
  estimate: Estimate,
  format: MassFormat,
  numbers: NumberFormatter,
) {
  const { co2eKg, wellToTankCo2eKg, tankToWakeCo2eKg, co2eKgPerGuest, hours } = estimate
  const hasElectricity = estimate.lines.some(({ kilowattHours }) => kilowattHours !== null)
  const supply = hasElectricity ? 'Supplying fuel and electricity' : 'Supplying the fuel'
  // Shown apart, so that certified and other biofuels have the same parts.
  const biogenicCo2Kg = sumIncludedBiogenicCo2(calculation, estimate.lines)
  const stages =
    wellToTankCo2eKg === null || tankToWakeCo2eKg === null
      ? []
      : [
          { label: 'Burning the fuel', co2eKg: tankToWakeCo2eKg - biogenicCo2Kg },
          { label: supply, co2eKg: wellToTankCo2eKg + biogenicCo2Kg },
        ]
  const lines = estimate.lines.map((line) => ({ label: getLineName(line), co2eKg: line.co2eKg }))
  const perGuest = co2eKgPerGuest ?? 0
  return {
    parts: buildParts(stages, co2eKg, format, numbers),
    /** Whether the parts can be drawn as a bar; a certified biofuel can make a part negative */
    hasBar: stages.length > 0 && co2eKg > 0 && stages.every((stage) => stage.co2eKg >= 0),
    /** Empty if the trip has only one line */
    lines: lines.length > 1 ? buildParts(lines, co2eKg, format, numbers) : [],
    facts: [
      ...(perGuest > 0
        ? [{ label: 'Per person', value: withUnit(numbers.significant(perGuest), 'kg CO₂e') }]
        : []),
      ...buildFuelFacts(calculation, estimate, numbers),
      ...buildBiogenicFact(estimate, numbers),
      ...(hours === null
        ? []
        : [{ label: 'Time under way', value: formatDuration(hours, numbers) }]),
    ],
  }
}

/** The API writes chemical formulas in ASCII; pages use subscripts. */
export const withSubscripts = (text: string): string =>
  text.replace(/\b(?:CO2|CH4|N2O)/g, (formula) => formula.replace('2', '₂').replace('4', '₄'))

/**
 * Formats factors; if there is more than one fuel, each factor is preceded by the name of its fuel.
 */
export function buildFactorViews(factors: readonly Factor[], { exact }: NumberFormatter) {
  const fuels = new Set(factors.flatMap(({ fuelType }) => fuelType ?? []))
  return factors.map(({ name, value, unit, source, location, gwp, unverified, fuelType }) => {
    const prefix =
      fuels.size > 1 && fuelType !== undefined ? `${getFuelName(fuelType as FuelType)}: ` : ''
    const isCo2e = gwp !== undefined && !name.startsWith('GWP100')
    const details = [
      ...(location === undefined || location === 'none' ? [] : [location]),
      ...(isCo2e ? [`CO2e by GWP100 of IPCC ${gwp}`] : []),
    ]
    return {
      name: withSubscripts(prefix + name),
      value: exact(value),
      unit: withSubscripts(unit),
      source: withSubscripts([source, ...details].join('; ')),
      isUnverified: unverified === true,
    }
  })
}

/**
 * The framework of a result and the masses of gases from burning the fuel; no gases if no mass is
 * known.
 */
export function buildFrameworkView(
  { framework, gases }: Pick<Estimate, 'framework' | 'gases'>,
  numbers: NumberFormatter,
) {
  const masses: [string, number | null][] = [
    ['CO₂', gases.co2Kg],
    ['CH₄', gases.ch4Kg],
    ['N₂O', gases.n2oKg],
    ['Biogenic CO₂', gases.biogenicCo2Kg],
  ]
  const isKnown = masses.some(([, kilograms]) => kilograms !== null)
  const format = (kilograms: number | null): string =>
    kilograms === null ? 'published as CO₂e only' : withUnit(numbers.significant(kilograms), 'kg')
  return {
    framework: FRAMEWORK_NAMES[framework],
    gases: isKnown ? masses.map(([label, kilograms]) => ({ label, value: format(kilograms) })) : [],
  }
}
