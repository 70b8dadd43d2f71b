import type { QrCodeRequest } from '../../src/qr-codes/qr-code-schemas.js'

/**
 * Codes as printed on 23 November 2026 with format version 1. They must stay readable: a change
 * here invalidates codes on board of vessels.
 */
export const PRINTED_CODES: {
  secret: string
  printedAt: string
  codes: (QrCodeRequest & { data: string; sig: string })[]
} = {
  secret: 'a stored secret for printed codes, 32+ bytes',
  printedAt: '2026-11-23T12:00:00.000Z',
  codes: [
    {
      calculatorType: 'fuel',
      calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
      vessel: { name: 'Ever Given', imoNumber: '9811000' },
      data: 'WzEsMCwxNzk1NDM1MjAwLCJFdmVyIEdpdmVuIiw5ODExMDAwLCJtZ28iLDUwMCwibCJd',
      sig: 'JzoQ_3pF3hkr5SyBQPmqgg',
    },
    {
      calculatorType: 'fuel',
      calculatorData: { fuelType: 'petrol', quantity: 100.25, unit: 'gal-us' },
      vessel: { name: 'Αργοναύτης "Ελπίς"' },
      data: 'WzEsMCwxNzk1NDM1MjAwLCLOkc-BzrPOv869zrHPjc-EzrfPgiBcIs6VzrvPgM6vz4JcIiIsMCwicGV0cm9sIiwxMDAuMjUsImdhbC11cyJd',
      sig: 'n1BNAZDUPvzld7FUeAeMYA',
    },
    {
      calculatorType: 'distance',
      calculatorData: {
        fuelType: 'mgo',
        distance: 120,
        distanceUnit: 'nmi',
        speedKn: 10,
        consumption: 60,
        consumptionUnit: 'l/h',
      },
      vessel: { name: 'Eendracht', imoNumber: '8814275' },
      data: 'WzEsMSwxNzk1NDM1MjAwLCJFZW5kcmFjaHQiLDg4MTQyNzUsIm1nbyIsMTIwLCJubWkiLDEwLDYwLCJsL2giXQ',
      sig: 'feiL0hDyujQCXpERVN3muQ',
    },
    {
      calculatorType: 'distance',
      calculatorData: {
        fuelType: 'hvo',
        distance: 222.24,
        distanceUnit: 'km',
        speedKn: 8.5,
        consumption: 6.25,
        consumptionUnit: 'l/nmi',
        referenceSpeedKn: 12,
        generatorLitresPerHour: 8,
        generatorHours: 30,
      },
      vessel: { name: 'Queen Mary 2', imoNumber: '9241061' },
      data: 'WzEsMSwxNzk1NDM1MjAwLCJRdWVlbiBNYXJ5IDIiLDkyNDEwNjEsImh2byIsMjIyLjI0LCJrbSIsOC41LDYuMjUsImwvbm1pIiwxMiw4LDMwXQ',
      sig: 'YMi5r57epriFudPcf7VsZA',
    },
    {
      calculatorType: 'distance',
      calculatorData: {
        fuelType: 'lng',
        distance: 40,
        distanceUnit: 'mi',
        speedKn: 6,
        consumption: 20,
        consumptionUnit: 'l/h',
        generatorLitresPerHour: 2.5,
      },
      vessel: { name: '長江號 ⛵' },
      data: 'WzEsMSwxNzk1NDM1MjAwLCLplbfmsZ_omZ8g4pu1IiwwLCJsbmciLDQwLCJtaSIsNiwyMCwibC9oIiwwLDIuNV0',
      sig: 'UzkGKlCNe69pRAR1Xx8lng',
    },
    {
      calculatorType: 'custom',
      calculatorData: { amount: 1.5, unit: 't' },
      vessel: { name: 'Emma Maersk', imoNumber: '9321483' },
      data: 'WzEsMiwxNzk1NDM1MjAwLCJFbW1hIE1hZXJzayIsOTMyMTQ4MywxLjUsInQiXQ',
      sig: '6-efEWPxKxFxNKgkpq57Gw',
    },
    {
      calculatorType: 'custom',
      calculatorData: { amount: 250, unit: 'kg', description: 'Une semaine en mer d’Égée' },
      vessel: { name: 'Étoile du Søndag' },
      data: 'WzEsMiwxNzk1NDM1MjAwLCLDiXRvaWxlIGR1IFPDuG5kYWciLDAsMjUwLCJrZyIsIlVuZSBzZW1haW5lIGVuIG1lciBk4oCZw4lnw6llIl0',
      sig: 'W9Od6tUZmmB_zmivldNxmA',
    },
  ],
}
