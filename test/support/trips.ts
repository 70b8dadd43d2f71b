import type { QrCodeRequest } from '../../src/qr-codes/qr-code-schemas.js'

/** QR code requests with real IMO numbers, and names with quotes, markup and non-ASCII letters. */
export const TRIPS = [
  {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
    vessel: { name: 'Ever Given', imoNumber: '9811000' },
  },
  {
    calculatorType: 'distance',
    calculatorData: {
      fuelType: 'mgo',
      distance: 120,
      distanceUnit: 'nmi',
      speedKn: 10,
      consumption: 100,
      consumptionUnit: 'l/h',
      referenceSpeedKn: 12,
      generatorLitresPerHour: 8,
    },
    vessel: { name: 'Queen Mary 2', imoNumber: 'IMO 9241061' },
  },
  {
    calculatorType: 'custom',
    calculatorData: { amount: 1.5, unit: 't', description: 'Une semaine en mer d’Égée' },
    vessel: { name: 'Étoile du Søndag' },
  },
  {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'petrol', quantity: 100, unit: 'gal-us' },
    vessel: { name: 'Αργοναύτης "Ελπίς"', imoNumber: '8814275' },
  },
  {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'lng', quantity: 2.5, unit: 't' },
    vessel: { name: '<b onclick="alert(1)">M/Y "O\'Hara" & Søn</b>', imoNumber: '9744001' },
  },
] as const satisfies readonly QrCodeRequest[]
