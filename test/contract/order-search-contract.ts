import type { Test } from 'tap'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { newOrder } from '../support/order-store.js'

/** IDs of the orders that a search finds, sorted by order number. */
const findIds = async (store: OrderStore, q: string): Promise<string[]> =>
  (await store.list({ q }, { sort: 'orderNumber', offset: 0, limit: 9 })).items.map(({ id }) => id)

/**
 * Search tests that apply to every order store.
 *
 * @param open opens an empty store until the test ends
 */
export function searchContract(t: Test, open: (t: Test) => Promise<OrderStore>): void {
  t.test('finds names by any part, ignoring case and accents', async (t) => {
    const store = await open(t)
    await store.create(newOrder({ customerName: 'ΟΔΥΣΣΕΎΣ Straße', vesselName: '第三海丸' }), 'a')
    await store.create(newOrder({ customerName: 'Circe', customerEmail: 'no@example.org' }), 'a')
    const found = (q: string) => findIds(store, q)
    for (const q of [
      'Οδυσσευς',
      'οδυσσεύς',
      'οδυσσεύς'.normalize('NFD'),
      'STRAẞE',
      'οδυσ',
      'ΟΔΥΣ',
      'STRASSE',
      'strasse',
      '海',
      '三海',
      '第三海丸',
      'σευσ',
    ]) {
      t.strictSame(await found(q), ['1'], q)
    }
    t.strictSame(await found('@EXAMPLE.'), ['1', '2'])
    // After an edit, only the new text is found.
    await store.apply(
      '2',
      { type: 'edit', changes: { customerName: 'Calypso' } },
      { by: 'a', ifVersions: null },
    )
    t.strictSame(await found('calyp'), ['2'])
    t.strictSame(await found('ly'), ['2'])
    t.strictSame(await found('circe'), [])
  })

  t.test('a search never matches across two fields', async (t) => {
    const store = await open(t)
    await store.create(newOrder({ customerName: 'Ann Example', vesselName: 'Calypso' }), 'ann')
    const count = async (q: string) => (await findIds(store, q)).length
    t.equal(await count('001ann'), 0)
    t.equal(await count('1\nA'), 1, 'two words')
    t.equal(await count('comcalypso'), 0)
    t.equal(await count('com\r\ncalypso'), 1)
    t.equal(await count('\nann'), 1)
    t.equal(await count('ann\nexample'), 1, 'a line break is a space')
  })

  t.test('finds orders by words in any order, short numbers and amounts', async (t) => {
    const store = await open(t)
    const create = (values: object) => store.create(newOrder(values), 'ann')
    await create({ customerName: 'Naviera Baleària', vesselName: 'Xaloc', amountMinor: 14_463 })
    await create({ customerName: 'Xaloc Tours', vesselName: 'Mistral', amountMinor: 123_450 })
    await create({ customerName: 'Kobe "K" Lines', currency: 'JPY', amountMinor: 14_463 })
    const find = (q: string) => findIds(store, q)
    t.same(await find('balear xaloc'), ['1'])
    t.same(await find('XALOC  naviera'), ['1'])
    t.same(await find('xaloc'), ['1', '2'])
    t.same(await find('xaloc kobe'), [])
    t.same(await find('"k" lines'), ['3'], 'quotation marks are literal')
    t.same(await find('"kobe"'), [])
    t.same(await find('cw2'), ['2'])
    t.same(await find('CW-3 kobe'), ['3'])
    t.same(await find('CW-3 balear'), [])
    t.same(await find('144.63'), ['1'], 'not 14 463 yen')
    t.same(await find('naviera 144,63'), ['1'])
    t.same(await find('€1,234.50'), ['2'])
    t.same(await find('1.234,50 tours'), ['2'])
    for (const yen of ['14463', '14,463', '¥14.463']) t.same(await find(yen), ['3'], yen)
    for (const digits of [20, 199]) t.same(await find('9'.repeat(digits)), [], `${digits} digits`)
  })

  t.test('finds names as people type them, in any script', async (t) => {
    const store = await open(t)
    const names = [
      ['O’Brien', "O'Brien", 'O´Brien', 'obrien’s', 'o’brien'],
      ["D'Angelo", 'd’angelo', 'D‘Angelo'],
      ['Ødegård', 'odegard', 'ØDEGÅRD'],
      ['Łukasz Đorđe', 'lukasz', 'dorde', 'łukasz'],
      ['Þóra', 'thora', 'þóra'],
      ['Ærø Œuvre', 'aero', 'oeuvre', 'ÆRØ'],
      [
        'Jean\u2011Luc Ha\u00advel',
        'jean-luc',
        'Jean–Luc',
        'havel',
        'ha\u00advel',
        'jean\u2011luc',
      ],
      ['ﾊﾞｰﾄﾞ', 'バード'],
      ['カモメ', 'ｶﾓﾒ'],
      ['Ｓｅａ', 'sea'],
      ['أحمد الهُدَىٰ', 'احمد', 'أحمد', 'الهدي', 'الهـــدى'],
      ['علی کاظم', 'علي', 'كاظم'],
    ]
    for (const [customerName = ''] of names) await store.create(newOrder({ customerName }), 'ann')
    const slice = { sort: 'customerName', offset: 0, limit: 20 } as const
    for (const [customerName = '', ...queries] of names) {
      for (const q of queries) {
        const { items } = await store.list({ q }, slice)
        const expected = q === 'obrien’s' ? [] : [customerName]
        t.same(
          items.map((order) => order.customerName),
          expected,
          `${q} finds ${customerName}`,
        )
      }
    }
    const { items } = await store.list({}, slice)
    t.same(
      items.slice(0, 8).map(({ customerName }) => customerName.split(' ')[0]),
      ['Ærø', "D'Angelo", 'Jean\u2011Luc', 'Łukasz', 'O’Brien', 'Ødegård', 'Ｓｅａ', 'Þóra'],
      'sorted by the same letters',
    )
  })

  t.test('finds amounts as any locale displays them', async (t) => {
    const store = await open(t)
    const amounts = { AUD: 6132, EUR: 123_456, INR: 123_456_789, JPY: 1_234_567, SEK: 7_654_321 }
    for (const [currency, amountMinor] of Object.entries(amounts)) {
      await store.create(newOrder({ currency, amountMinor }), 'ann')
    }
    const find = async (q: string) =>
      (await store.list({ q }, { sort: 'orderNumber', offset: 0, limit: 9 })).items.map(
        ({ currency }) => currency,
      )
    const locales = ['en-AU', 'en-IN', 'de', 'de-CH', 'fr', 'sv', 'ar-EG', 'fa', 'mr', 'he', 'ja']
    for (const locale of locales) {
      for (const [currency, amountMinor] of Object.entries(amounts)) {
        const format = new Intl.NumberFormat(locale, { style: 'currency', currency })
        const q = format.format(amountMinor / (currency === 'JPY' ? 1 : 100))
        t.same(await find(q), [currency], `${locale}: ${q}`)
      }
    }
    for (const q of [
      'A$61.32',
      '61,32 AU$',
      'AUD 61.32',
      'ann 61,32AU$',
      '61,32 $ AU',
      'S/ 61.32',
      '61,32 лв.',
      '61.32 د.إ.',
      '61.32 $ example',
    ]) {
      t.same(await find(q), ['AUD'], q)
    }
    for (const q of ['1.234,56 €', '$1,234.56', '1 234,56', '1’234.56', 'EUR1.234,56']) {
      t.same(await find(q), ['EUR'], q)
    }
    for (const q of ['1234567 JPY', 'F\u00a0CFA\u00a01,234,567', '1,234,567円']) {
      t.same(await find(q), ['JPY'], q)
    }
    for (const q of ['#CW-000002', 'CW-000002,']) t.same(await find(q), ['EUR'], q)
    t.same(await find('61,32 €uro'), [], 'not the symbol of a currency')
    t.same(await find('eur'), [], 'a code alone is a word')
  })
}
