import type { ValidCalls } from '../support/valid-calls.js'

const calls = (): ValidCalls => ({
  'GET /openapi.json': [{}],
  'GET /docs': [{}],
})

export default calls
