import type { Calculation } from '../calculator/calculator-data.js'
import type { DemoCustomer } from './customers.js'
import type { Random } from './random.js'

/** Rounds to a multiple of `step` (at least one), without floating-point noise. */
const roundTo = (step: number, value: number): number =>
  Number((Math.max(1, Math.round(value / step)) * step).toFixed(3))

/** Fuel burnt, in the customary unit of the customer's country. */
function createFuelTrip(random: Random, { currency }: DemoCustomer, litres: number): Calculation {
  const [unit, inUnit] =
    currency === 'USD'
      ? (['gal-us', litres / 3.785] as const)
      : currency === 'GBP'
        ? (['gal-imp', litres / 4.546] as const)
        : (['l', litres] as const)
  const fuelType = random.chance(0.8) ? 'mgo' : random.pick(['hvo', 'petrol', 'mgo'])
  return {
    calculatorType: 'fuel',
    calculatorData: { fuelType, quantity: roundTo(5, inUnit), unit },
  }
}

function createDistanceTrip(random: Random, hours: number, litresPerHour: number): Calculation {
  const speedKn = roundTo(0.5, random.between(5, 11))
  return {
    calculatorType: 'distance',
    calculatorData: {
      fuelType: 'mgo',
      distance: roundTo(1, hours * speedKn),
      distanceUnit: 'nmi',
      speedKn,
      consumption: roundTo(1, litresPerHour),
      consumptionUnit: 'l/h',
      ...(random.chance(0.3) ? { referenceSpeedKn: speedKn + 1 } : {}),
      ...(random.chance(0.4)
        ? { generatorLitresPerHour: roundTo(0.5, random.between(1.5, 6)) }
        : {}),
    },
  }
}

const DESCRIPTIONS = [
  'A week in the Cyclades',
  'Regatta week',
  'Delivery to winter quarters',
  'Семь дней у берега',
  'Une semaine en mer',
  'Sommertörn',
  'クルーズ一週間',
] as const

function createCustomTrip(random: Random, tonnes: number): Calculation {
  const description = random.pick(DESCRIPTIONS)
  return {
    calculatorType: 'custom',
    calculatorData: {
      amount: roundTo(0.05, tonnes),
      unit: 't',
      ...(random.chance(0.7) ? { description } : {}),
    },
  }
}

function createFerryTrip(random: Random): Calculation {
  const fuelType = random.pick(['mgo', 'mgo', 'lfo', 'hfo', 'lng', 'methanol'])
  if (random.chance(0.25)) {
    const calculatorData = {
      fuelType,
      quantity: roundTo(0.1, random.between(4, 30)),
      unit: 't',
    } as const
    return { calculatorType: 'fuel', calculatorData }
  }
  return {
    calculatorType: 'distance',
    calculatorData: {
      fuelType,
      distance: roundTo(1, random.between(12, 160)),
      distanceUnit: random.chance(0.8) ? 'nmi' : 'km',
      speedKn: roundTo(0.5, random.between(13, 24)),
      consumption: roundTo(10, random.between(300, 1_800)),
      consumptionUnit: 'l/h',
      generatorLitresPerHour: roundTo(5, random.between(40, 120)),
    },
  }
}

/** Generates a typical trip for the customer's trade. */
export function createDemoTrip(random: Random, customer: DemoCustomer): Calculation {
  if (customer.trade === 'ferry') return createFerryTrip(random)
  // Charter yachts are larger and make longer trips.
  const scale = customer.trade === 'charter' ? 3 : 1
  const type = random.fraction()
  if (type < 0.5) return createFuelTrip(random, customer, random.between(60, 700) * scale)
  if (type < 0.87)
    return createDistanceTrip(random, random.between(6, 40), random.between(6, 25) * scale)
  return createCustomTrip(random, random.between(0.2, 2.5) * scale)
}
