import type { CallContext, ValidCalls } from '../support/valid-calls.js'

const calls = ({ guestOrder, certificate }: CallContext): ValidCalls => ({
  'GET /o/:token/certificate.pdf': [{ path: `${guestOrder}/certificate.pdf` }],
  'GET /c/:code': [{ path: certificate }],
  'GET /c/:code/preview.png': [{ path: `${certificate}/preview.png` }],
  'GET /c/:code(^[\\w-]+).pdf': [{ path: `${certificate}.pdf` }],
})

export default calls
