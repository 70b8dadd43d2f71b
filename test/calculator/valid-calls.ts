import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import type { CallContext, ValidCalls } from '../support/valid-calls.js'

const TRIP = { fuelType: 'mgo', quantity: '500', unit: 'l' }
const ESTIMATES = Object.fromEntries(
  Object.entries(TYPICAL_CALCULATIONS).map(([type, { calculatorData }]) => [
    `POST /api/calculators/${type}/estimate`,
    [{ json: calculatorData }],
  ]),
)

const calls = ({ link }: CallContext): ValidCalls => ({
  'GET /': [{}],
  'GET /calculator/:type': [
    { path: '/calculator/fuel', query: TRIP },
    { path: '/calculator/custom', query: { amount: '1.5', unit: 't', description: 'A trip' } },
    { path: link.pathname, query: Object.fromEntries(link.searchParams) },
    {
      path: link.pathname,
      query: {
        ...TRIP,
        code: link.searchParams.get('data') ?? '',
        codeSig: link.searchParams.get('sig') ?? '',
      },
      headers: { 'hx-request': 'true', 'hx-request-type': 'partial', 'hx-target': 'div#result' },
    },
  ],
  'GET /calculator/:type/preview.png': [
    { path: '/calculator/fuel/preview.png', query: TRIP },
    {
      path: `${link.pathname}/preview.png`,
      query: Object.fromEntries(link.searchParams),
    },
  ],
  'GET /api/calculators': [
    { headers: { accept: 'application/json' } },
    { query: { edition: '2025-06' } },
  ],
  'GET /api/calculators/editions': [{}],
  ...ESTIMATES,
})

export default calls
