import t from 'tap'
import { startApp } from '../support/app.js'

const { url } = await startApp(t)
const document: any = await (await fetch(`${url}/openapi.json`)).json()
const html = await (await fetch(`${url}/docs`)).text()

const operations = Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** The part of the page about an operation. */
const getSection = (operationId: string): string =>
  html.split(`data-operation="${operationId}"`)[1]?.split('</section>')[0] ?? ''

t.test('every operation has a unique ID, a group and a section', async (t) => {
  const ids = operations.map(({ operation }) => operation.operationId)
  t.ok(ids.every((id) => /^[a-z][A-Za-z]+$/.test(id)))
  t.equal(new Set(ids).size, ids.length)
  for (const { path, method, operation } of operations) {
    const section = getSection(operation.operationId)
    t.ok(html.includes(`<h2>${operation.tags[0]}</h2>`), operation.tags[0])
    t.match(section, `>${method.toUpperCase()}</strong> ${path}<`)
    t.ok(section.includes(operation.summary), operation.summary)
    t.match(section, 'data-language="python"')
  }
  t.notMatch(html, /\[object Object\]|undefined|NaN/)
})

t.test('every link on the page leads to a section', async (t) => {
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  const links = [...html.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id)
  t.ok(links.length > 100)
  t.same([...new Set(links.filter((id) => !ids.has(id)))], [])
})

t.test('lists what an operation requires and returns', async (t) => {
  const createOrder = getSection('createOrder')
  t.match(createOrder, '<code>orders:write</code>')
  for (const name of ['idempotency-key', 'customerName', 'co2eKg']) {
    t.match(createOrder, `<code>${name}</code>`)
  }
  t.match(
    createOrder,
    /<code>customerName<\/code> <small>string, at most 120 characters<\/small> <small class="required">/,
  )
  t.match(createOrder, /If calculatorType is &quot;fuel&quot;[^]*href="#object-fuel-calculator"/)
  t.match(createOrder, /Returns <a href="#object-order">Order<\/a>/)
  t.match(createOrder, /<code>ETag<\/code>[^]*<code>Location<\/code>/)
  t.match(createOrder, /<code>422<\/code> Invalid input/)
  t.match(getSection('updateOrder'), /<code>409<\/code> The status transition is not allowed/)
  t.match(
    getSection('listOrders'),
    /<code>pageSize<\/code> <small>integer, at least 1, at most 100, default 25/,
  )
  t.match(getSection('signOut'), 'API keys are not accepted')
  t.match(getSection('estimateFuel'), 'No authentication')
  t.match(html, /id="object-order"[^]*<code>fulfilledAt<\/code>/)
})

t.test('shows the limits and events of this service', async (t) => {
  const limited = await startApp(t, { API_KEY_LIMIT_PER_MINUTE: '77' })
  const page = await (await fetch(`${limited.url}/docs`)).text()
  t.match(page, '77 per API key')
  for (const type of Object.keys(document.webhooks)) t.match(page, `<code>${type}</code>`)
})
