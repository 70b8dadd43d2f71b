import type { ValidCalls } from '../support/valid-calls.js'

const calls = (): ValidCalls => ({
  'GET /admin': [{ query: { range: '7d' } }],
})

export default calls
