import { LIST } from '../orders/valid-calls.js'
import type { ValidCalls } from '../support/valid-calls.js'

const calls = (): ValidCalls => ({
  'GET /api/admin/orders/export': [
    { query: { ...LIST, format: 'csv' } },
    { query: { ...LIST, format: 'xlsx' } },
  ],
  'GET /admin/orders/export': [{ query: { ...LIST, format: 'csv' } }],
})

export default calls
