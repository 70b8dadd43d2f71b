import type { CallContext, ValidCalls } from '../support/valid-calls.js'

const calls = ({ asset }: CallContext): ValidCalls => ({
  // The route table lists the assets without their folder.
  'GET /*': [{ path: asset, headers: { 'if-none-match': '"x"', range: 'bytes=0-9' } }],
  'GET /healthz': [{}],
  'GET /readyz': [{}],
  'GET /metrics': [{}],
  'GET /.well-known/security.txt': [{}],
})

export default calls
