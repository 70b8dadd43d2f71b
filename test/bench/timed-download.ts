import { once } from 'node:events'

// Downloads a response on the message "start", and reports its size and duration. A process of its
// own, so that reading a large response does not delay the requests that the benchmark measures.

const [url = '', headers = '{}'] = process.argv.slice(2)
const message = once(process, 'message')
process.send?.('ready')
await message
const started = performance.now()
const response = await fetch(url, { headers: JSON.parse(headers) as Record<string, string> })
let bytes = 0
for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length
if (!response.ok) throw new Error(`${url}: status ${response.status}`)
process.send?.({ bytes, seconds: (performance.now() - started) / 1000 })
process.disconnect()
