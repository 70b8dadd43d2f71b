import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const { WEBHOOK_SECRET = '', PORT = '4000' } = process.env
const KEY = Buffer.from(WEBHOOK_SECRET.replace('whsec_', ''), 'base64')
// Anyone can sign with an empty key.
if (KEY.length === 0) throw new Error('WEBHOOK_SECRET must be the secret of the endpoint')
const MAX_AGE_SECONDS = 5 * 60

/** Returns the event of a webhook. Throws if its signature is wrong, or if it is old. */
function verifyWebhook(headers, body) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const expected = createHmac('sha256', KEY).update(`${id}.${timestamp}.${body}`).digest()
  // After the secret has been rotated, there are two signatures.
  const isSigned = String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => Buffer.from(signature.replace('v1,', ''), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected))
  const age = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!isSigned || !(age < MAX_AGE_SECONDS)) throw new Error('not a valid webhook')
  return JSON.parse(body)
}

createServer(async (request, response) => {
  try {
    const event = verifyWebhook(request.headers, await text(request))
    console.log(event.type, event.data)
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(400).end(error.message)
  }
}).listen(Number(PORT), '127.0.0.1')
