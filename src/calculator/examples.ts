/** A usual trip for each calculator: what the documentation, the test page and the demo show. */
export const EXAMPLES = {
  fuel: {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  },
  distance: {
    calculatorType: 'distance',
    calculatorData: {
      fuelType: 'mgo',
      distance: 120,
      distanceUnit: 'nmi',
      speedKn: 10,
      consumption: 60,
      consumptionUnit: 'l/h',
    },
  },
  custom: { calculatorType: 'custom', calculatorData: { amount: 1.5, unit: 't' } },
} as const
