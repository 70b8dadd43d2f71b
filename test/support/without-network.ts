import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { postJson } from './app.js'
import { distPath } from './dist-path.js'
import { newOrder } from './order-store.js'
import { signIn } from './sign-in.js'
import { waitUntil } from './wait-for.js'

/*
 * Runs in a network namespace with loopback only. Starts the built service without configuration
 * in the folder given as the first argument, uses it, and prints the results as JSON.
 */
const [, , folder = ''] = process.argv
const url = 'http://127.0.0.1:3000'
const service = spawn(process.execPath, [distPath('server.js')], {
  cwd: folder,
  env: { PATH: process.env.PATH },
})
const closed = once(service, 'close')
let [log, introduction] = ['', '']
service.stdout.on('data', (part: Buffer) => (log += part.toString()))
service.stderr.on('data', (part: Buffer) => (introduction += part.toString()))
const NO_RESPONSE = { status: 0 }
const getStatus = async (path: string) => (await fetch(url + path).catch(() => NO_RESPONSE)).status

await waitUntil(async () => service.exitCode !== null || (await getStatus('/healthz')) === 200)
const password = /^ +password +(\S+)/m.exec(introduction)?.[1] ?? ''
const token = await signIn(url, { email: 'admin@localhost', password }).catch(() => '')
const order = await postJson(`${url}/api/admin/orders`, newOrder(), {
  authorization: `Bearer ${token}`,
}).catch(() => NO_RESPONSE)
const code = await postJson(`${url}/api/qr-code/generate`, {
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  vessel: { name: 'Ever Given' },
}).catch(() => NO_RESPONSE)
const results = {
  page: await getStatus('/calculator/fuel?quantity=5'),
  docs: await getStatus('/docs'),
  ready: await getStatus('/readyz'),
  order: order.status,
  code: code.status,
}
service.kill('SIGTERM')
const [exitCode] = await closed
const logErrors = log.split('\n').filter((line) => /"level":[456]0/.test(line))
process.stdout.write(JSON.stringify({ ...results, exitCode, logErrors }))
