import t from 'tap'
import { formatMoney, getMinorUnitDigits } from '../../src/core/formatting/number-formatter.js'
import { CURRENCIES } from '../../src/core/validation/formats.js'
import { formatAmountInput, parseAmount } from '../../src/orders/pages/order-fields.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'

/** ISO 4217, list one: accepted currencies whose minor unit is not a hundredth. */
const ISO_4217: Record<string, number> = {
  ...{ BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0 },
  ...{ UGX: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0 },
  ...{ BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3 },
}

t.test('every currency has the minor unit of ISO 4217', (t) => {
  const found = [...CURRENCIES].filter((code) => getMinorUnitDigits(code) !== 2)
  t.strictSame(found.toSorted(), Object.keys(ISO_4217).toSorted())
  for (const code of found) t.equal(getMinorUnitDigits(code), ISO_4217[code], code)
  t.strictSame(['CLF', 'UYW', 'UYI'].map(getMinorUnitDigits), [4, 4, 0])
  t.end()
})

t.test('formats and parses amounts with the decimals of their currency', (t) => {
  const cases: [currency: string, minor: number, seen: RegExp, typed: string][] = [
    ['EUR', 123_450, /^€1,234\.50$/, '1234.50'],
    ['HUF', 123_450, /1,234\.50$/, '1234.50'],
    ['IDR', 1, /0\.01$/, '0.01'],
    ['IQD', 1_234_567, /1,234\.567$/, '1234.567'],
    ['JPY', 1_234, /1,234$/, '1234'],
    ['CLF', 12_345, /1\.2345$/, '1.2345'],
  ]
  for (const [currency, minor, seen, typed] of cases) {
    t.match(formatMoney(minor, currency), seen, currency)
    t.equal(formatAmountInput(minor, currency), typed)
    t.match(parseAmount(typed, currency), { ok: true, value: minor })
    t.match(parseAmount(`${typed} ${currency}`, currency), { ok: true, value: minor })
  }
  t.match(parseAmount('1.234567', 'HUF'), { message: 'must have at most 2 decimals in HUF' })
  const proposals = { EUR: '1234 or 1.23', JPY: '1234 or 1', KWD: '1234 or 1.2340' }
  for (const [currency, proposed] of Object.entries(proposals)) {
    const message = `1.234 could mean 1234 or 1.234. Enter ${proposed}.`
    t.match(parseAmount('1.234', currency), { ok: false, message }, currency)
    for (const text of proposed.split(' or ')) t.ok(parseAmount(text, currency).ok, text)
  }
  for (const text of ['€24.50', '24,50 €', 'EUR 24.50', '٢٤٫٥ eur']) {
    t.match(parseAmount(text, 'EUR'), { ok: true, value: 2450 }, text)
  }
  t.match(parseAmount('US$41.49', 'USD'), { ok: true, value: 4149 })
  t.match(parseAmount('$41.49', 'USD'), { ok: true, value: 4149 })
  t.equal(parseAmount('$41.49', 'EUR').ok, false, 'another currency')
  t.match(parseAmount('1.5', 'UGX'), { message: 'must be a whole number: UGX has no decimals' })
  t.end()
})

t.test('list, form and dashboard show the decimals of forints', async (t) => {
  const { ann } = await startTwoAdmins(t, { CURRENCY: 'HUF' })
  const order = newOrder({ currency: 'HUF', amountMinor: 123_450 })
  const { id } = await ann.call('POST', '/api/admin/orders', order)
  for (const page of ['/admin', '/admin/orders', `/admin/orders/${id}`]) {
    t.match((await ann.get(page)).text, /1,234\.50/, page)
  }
  t.match((await ann.get('/admin')).text, /<data[^>]* value="1234\.5"/, 'the chart too')
  const form = await ann.get(`/admin/orders/${id}/edit?group=amounts`)
  t.match(form.text, /id="amount"[^>]* value="1234\.50"/)
})
