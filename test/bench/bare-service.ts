import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import view from '@fastify/view'
import { Eta } from 'eta'
import Fastify from 'fastify'
import QRCode from 'qrcode'
import { FuelData as FuelSchema, type FuelData } from '../../src/calculator/calculator-data.js'
import { parseCalculatorForm } from '../../src/calculator/calculator-form.js'
import { Estimate } from '../../src/calculator/estimate-schema.js'
import { calculateEstimate } from '../../src/calculator/estimate.js'
import { buildFormView, CALCULATOR_NAMES, CHOICES } from '../../src/calculator/form-view.js'
import { buildResultView } from '../../src/calculator/result-view.js'
import { tripSchemaExtensions } from '../../src/calculator/validate-calculation.js'
import { projectRoot } from '../../src/core/config/config-part.js'
import { getNumberFormatter } from '../../src/core/formatting/number-formatter.js'
import { getFormatters } from '../../src/core/formatting/portal-formatters.js'
import { createAjv } from '../../src/core/validation/field-errors.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { parseListQuery } from '../../src/orders/order-filters.js'
import { buildListView } from '../../src/orders/pages/list-view.js'
import { createPrefillLinks } from '../../src/qr-codes/prefill-link.js'
import type { QrCodeRequest } from '../../src/qr-codes/qr-code-schemas.js'
import { openFileStore } from '../support/stores.js'

// The baseline for throughput: the same responses from the same libraries, and nothing else.

const app = Fastify()
const ajv = createAjv(tripSchemaExtensions)
app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object))

app.post<{ Body: FuelData }>(
  '/api/calculators/fuel/estimate',
  { schema: { body: FuelSchema, response: { 200: Estimate } } },
  async ({ body }) => calculateEstimate({ calculatorType: 'fuel', calculatorData: body }),
)

/** The fastest settings: no row filters, lowest compression. */
const FASTEST_PNG = { deflateLevel: 1, filterType: 0 }

const links = createPrefillLinks(
  ['a benchmark secret of at least 32 bytes'],
  () => 'https://example.com',
)
app.post<{ Body: QrCodeRequest }>('/api/qr-code/generate', async ({ body }) => {
  const link = links.create(body, body.vessel)
  const segments = [{ data: Buffer.from(link.url), mode: 'byte' as const }]
  const png = await QRCode.toBuffer(segments, {
    errorCorrectionLevel: 'M',
    width: 512,
    rendererOpts: FASTEST_PNG,
  })
  return {
    url: link.url,
    svg: await QRCode.toString(segments, { type: 'svg', errorCorrectionLevel: 'M' }),
    png: `data:image/png;base64,${png.toString('base64')}`,
  }
})

const timeZone = 'UTC'
const numbers = getNumberFormatter('en-GB')
const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone })
const templates = join(projectRoot, 'templates')
const assets = JSON.parse(readFileSync(join(projectRoot, 'dist/assets.json'), 'utf8')) as Record<
  string,
  string
>
await app.register(view, {
  engine: {
    eta: new Eta({
      views: templates,
      cache: true,
      autoFilter: true,
      filterFunction: (value: unknown) => `${(value as string | number | undefined) ?? ''}`,
    }),
  },
  templates,
  production: true,
  defaultContext: {
    asset: (name: string) => `/assets/${assets[name] ?? ''}`,
    brand: { name: 'Clearwake', logoUrl: null, contactUrl: null },
  },
})
app.get<{ Querystring: Record<string, unknown> }>('/calculator/fuel', async ({ query }, reply) => {
  const form = parseCalculatorForm('fuel', query)
  return reply.viewAsync('calculator/calculator', {
    type: 'fuel',
    calculator: CALCULATOR_NAMES.fuel,
    preview: { title: `${CALCULATOR_NAMES.fuel.title} calculator`, description: '' },
    form: buildFormView('fuel', form, numbers, { showMissing: true }),
    choices: CHOICES,
    source: null,
    calculatedOn: dates.format(new Date()),
    address: 'https://example.com',
    result: form.calculation && buildResultView(form.calculation, numbers),
    offer: null,
  })
})

const orderStore = await openFileStore({
  path: getDatabasePath(process.env.DATA_DIR ?? ''),
  timeZone,
})
app.get<{ Querystring: Record<string, unknown> }>('/admin/orders', async (request, reply) => {
  const { query, ignored } = parseListQuery(request.query)
  const { sort, page, pageSize, ...filters } = query
  const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
  const { items, ...total } = await orderStore.list(filters, slice)
  const currencies = await orderStore.listCurrencies()
  const others = { currencies, views: [], notes: [] }
  const data = { query, ignored, selection: [], items, total, ...others }
  const list = buildListView(data, getFormatters('en-GB', timeZone), orderStore.calendar)
  return reply.viewAsync('orders/orders', {
    administrator: { email: 'admin@example.com' },
    can: () => true,
    list,
  })
})

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
