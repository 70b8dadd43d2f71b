import type { Calculation } from '../calculator/calculator-data.js'
import type { Random } from './random.js'
import type { DemoCustomer } from './customers.js'

/** Rounded to a step, one at least, without the dust of binary fractions. */
const to = (step: number, value: number): number =>
  Number((Math.max(1, Math.round(value / step)) * step).toFixed(3))

/** What the crew burnt, in the unit of their country. */
function fuelBurnt(by: Random, { currency }: DemoCustomer, litres: number): Calculation {
  const [unit, inUnit] =
    currency === 'USD'
      ? (['gal-us', litres / 3.785] as const)
      : currency === 'GBP'
        ? (['gal-imp', litres / 4.546] as const)
        : (['l', litres] as const)
  const fuelType = by.happens(0.8) ? 'mgo' : by.of(['hvo', 'petrol', 'mgo'])
  return { calculatorType: 'fuel', calculatorData: { fuelType, quantity: to(5, inUnit), unit } }
}

function sailed(by: Random, motoring: number, litresPerHour: number): Calculation {
  const speedKn = to(0.5, by.about(5, 11))
  return {
    calculatorType: 'distance',
    calculatorData: {
      fuelType: 'mgo',
      distance: to(1, motoring * speedKn),
      distanceUnit: 'nmi',
      speedKn,
      consumption: to(1, litresPerHour),
      consumptionUnit: 'l/h',
      ...(by.happens(0.3) ? { referenceSpeedKn: speedKn + 1 } : {}),
      ...(by.happens(0.4) ? { generatorLitresPerHour: to(0.5, by.about(1.5, 6)) } : {}),
    },
  }
}

const WEEKS = [
  'A week in the Cyclades',
  'Regatta week',
  'Delivery to winter quarters',
  'Семь дней у берега',
  'Une semaine en mer',
  'Sommertörn',
  'クルーズ一週間',
] as const

function known(by: Random, tonnes: number): Calculation {
  const description = by.of(WEEKS)
  return {
    calculatorType: 'custom',
    calculatorData: {
      amount: to(0.05, tonnes),
      unit: 't',
      ...(by.happens(0.7) ? { description } : {}),
    },
  }
}

function ferryTrip(by: Random): Calculation {
  const fuelType = by.of(['mgo', 'mgo', 'lfo', 'hfo', 'lng', 'methanol'])
  if (by.happens(0.25)) {
    const calculatorData = { fuelType, quantity: to(0.1, by.about(4, 30)), unit: 't' } as const
    return { calculatorType: 'fuel', calculatorData }
  }
  return {
    calculatorType: 'distance',
    calculatorData: {
      fuelType,
      distance: to(1, by.about(12, 160)),
      distanceUnit: by.happens(0.8) ? 'nmi' : 'km',
      speedKn: to(0.5, by.about(13, 24)),
      consumption: to(10, by.about(300, 1_800)),
      consumptionUnit: 'l/h',
      generatorLitresPerHour: to(5, by.about(40, 120)),
    },
  }
}

/** A trip such as a customer of this trade makes. */
export function createDemoTrip(by: Random, customer: DemoCustomer): Calculation {
  if (customer.trade === 'ferry') return ferryTrip(by)
  // What is for hire is larger, and out for longer.
  const scale = customer.trade === 'charter' ? 3 : 1
  const kind = by.share()
  if (kind < 0.5) return fuelBurnt(by, customer, by.about(60, 700) * scale)
  if (kind < 0.87) return sailed(by, by.about(6, 40), by.about(6, 25) * scale)
  return known(by, by.about(0.2, 2.5) * scale)
}
