import { once } from 'node:events'

// Downloads a URL in a separate process when it receives a message; reports bytes and seconds. The
// parent process measures other requests meanwhile.

const [url = '', headers = '{}'] = process.argv.slice(2)
const nextMessage = once(process, 'message')
process.send?.('ready')
await nextMessage
const started = performance.now()
const response = await fetch(url, { headers: JSON.parse(headers) as Record<string, string> })
let bytes = 0
for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length
if (!response.ok) throw new Error(`${url} was answered with ${response.status}`)
process.send?.({ bytes, seconds: (performance.now() - started) / 1000 })
process.disconnect()
