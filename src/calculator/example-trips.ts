/** A typical trip for each calculator, used by the API documentation, the QR test page and the demo. */
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
