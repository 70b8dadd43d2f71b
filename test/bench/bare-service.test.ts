import { fork } from 'node:child_process'
import t from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { temporaryFolder } from '../support/app.js'
import { freePort } from '../support/free-port.js'
import { fillStore } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { waitFor } from '../support/wait-for.js'

t.test('the bare service of the benchmarks shows the pages of Clearwake', async (t) => {
  const dataDir = temporaryFolder(t)
  await fillStore(getDatabasePath(dataDir), 'UTC', typicalOrders(30))
  const port = await freePort()
  const service = fork(new URL('./bare-service.js', import.meta.url), {
    env: { ...process.env, PORT: String(port), DATA_DIR: dataDir },
  })
  t.teardown(() => service.kill('SIGKILL'))
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  const calculator = await waitFor(() =>
    get('/calculator/fuel?fuelType=mgo&quantity=500&unit=l').catch(() => null),
  )
  t.equal(calculator.status, 200)
  t.match(await calculator.text(), /1,653 kilograms of carbon dioxide equivalent/)
  const list = await get('/admin/orders')
  t.equal(list.status, 200)
  t.match(await list.text(), /<strong>30<\/strong> orders/)
})
