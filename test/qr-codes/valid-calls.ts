import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import type { ValidCalls } from '../support/valid-calls.js'

const CODE_REQUEST = {
  ...TYPICAL_CALCULATIONS.distance,
  vessel: { name: 'Ever Given', imoNumber: '9811000' },
  image: { size: 128, margin: 1, errorCorrection: 'L' },
}
const CODE_FORM = {
  calculatorType: 'fuel',
  'fuel.fuelType': 'mgo',
  'fuel.quantity': '500',
  'fuel.unit': 'l',
  'vessel.name': 'Eendracht',
  'vessel.imoNumber': '8814275',
  'image.size': '128',
  'image.margin': '1',
  'image.errorCorrection': 'L',
}

const calls = (): ValidCalls => ({
  'GET /qr-test': [{ query: CODE_FORM }],
  'POST /api/qr-codes': [
    { json: { codes: [CODE_REQUEST] } },
    {
      json: { codes: [CODE_REQUEST, CODE_REQUEST], format: 'png' },
      headers: { accept: 'application/x-ndjson' },
    },
  ],
  'POST /api/qr-code/generate': [
    { json: CODE_REQUEST },
    { json: CODE_REQUEST, headers: { accept: 'image/png' } },
    {
      json: { ...CODE_REQUEST, ...TYPICAL_CALCULATIONS.custom },
      headers: { accept: 'image/svg+xml' },
    },
  ],
})

export default calls
