import t from 'tap'
import type { Estimate } from '../../src/calculator/estimate-schema.js'
import { FUEL_TYPES } from '../../src/calculator/factors/editions.js'
import { postJson, startApp } from '../support/app.js'

const { url } = await startApp(t)

const post = (data: object, type = 'fuel') =>
  postJson(`${url}/api/calculators/${type}/estimate`, data)

async function estimate(data: object, type = 'fuel'): Promise<Estimate> {
  const { status, body } = await post(data, type)
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body as Estimate
}

async function getErrors(data: object, type = 'fuel'): Promise<Record<string, string>> {
  const { status, body } = await post(data, type)
  if (status !== 422) throw new Error(`${status}: ${JSON.stringify(body)}`)
  const { errors } = body as { errors: { path: string; message: string }[] }
  return Object.fromEntries(errors.map(({ path, message }) => [path, message]))
}

const isNear = (found: number, expected: number): boolean =>
  Math.abs(found - expected) <= Math.abs(expected) * 1e-6

const MGO = { fuelType: 'mgo', quantity: 1000, unit: 'l' }
const HVO = { fuelType: 'hvo', quantity: 1000, unit: 'l' }
const TENDER = { use: 'tender', fuelType: 'petrol', quantity: 40, unit: 'l' }
const SHORE_POWER = {
  use: 'shore-power',
  fuelType: 'electricity',
  quantity: 300,
  unit: 'kWh',
  kgCo2ePerKwh: 0.2,
  factorSource: 'Grid of Spain, 2025',
}
const DISTANCE = {
  fuelType: 'mgo',
  distance: 120,
  distanceUnit: 'nmi',
  speedKn: 10,
  consumption: 60,
  consumptionUnit: 'l/h',
}

const toText = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

t.test('a blend is the sum of its fuels by volume', async (t) => {
  const [mgo, hvo, b30, b100] = await Promise.all([
    estimate(MGO),
    estimate(HVO),
    estimate({ ...MGO, hvoPercent: 30 }),
    estimate({ ...MGO, hvoPercent: 100 }),
  ])
  t.ok(isNear(b30.co2eKg, 0.7 * mgo.co2eKg + 0.3 * hvo.co2eKg))
  t.ok(isNear(b100.co2eKg, hvo.co2eKg), 'B100 is HVO')
  t.ok(isNear(b30.fuelKg ?? 0, 700 * 0.854 + 300 * 0.78))
  t.match(b30.lines, [{ fuelType: 'mgo', hvoPercent: 30 }])
  const byMass = await estimate({
    fuelType: 'mgo',
    quantity: b30.fuelKg,
    unit: 'kg',
    hvoPercent: 30,
  })
  t.ok(isNear(byMass.co2eKg, b30.co2eKg), 'the same by mass')
})

t.test('a certified value replaces the published factors of HVO', async (t) => {
  // 780 kg × (44 MJ/kg × 20 g/MJ ÷ 1000 + 0.00005 × 29.8 + 0.00018 × 273)
  const expected = 780 * (0.88 + 0.00149 + 0.04914)
  const certified = await estimate({ ...HVO, certifiedGCo2ePerMj: 20 })
  t.ok(isNear(certified.co2eKg, expected), String(certified.co2eKg))
  t.match(
    certified.factors.find(({ name }) => name === 'Certified well-to-wake'),
    { value: 20, unit: 'g CO2e/MJ', source: /entered/, line: 1 },
  )
  const blend = await estimate({ ...MGO, hvoPercent: 50, certifiedGCo2ePerMj: 20 })
  const mgo = await estimate(MGO)
  t.ok(isNear(blend.co2eKg, (mgo.co2eKg + expected) / 2))
})

t.test('each line has its own part in the result', async (t) => {
  const trip = await estimate({ ...MGO, furtherLines: [TENDER, SHORE_POWER] })
  const [mgo, tender] = await Promise.all([estimate(MGO), estimate({ ...TENDER, use: undefined })])
  t.same(
    trip.lines.map(({ use, fuelType, co2eKg, kilowattHours }) => ({
      use,
      fuelType,
      co2eKg,
      kilowattHours,
    })),
    [
      { use: null, fuelType: 'mgo', co2eKg: mgo.co2eKg, kilowattHours: null },
      { use: 'tender', fuelType: 'petrol', co2eKg: tender.co2eKg, kilowattHours: null },
      { use: 'shore-power', fuelType: 'electricity', co2eKg: 60, kilowattHours: 300 },
    ],
  )
  t.ok(isNear(trip.co2eKg, mgo.co2eKg + tender.co2eKg + 60))
  t.equal(trip.fuelLitres, 1040, 'electricity has no volume')
  t.match(
    trip.factors.find(({ fuelType }) => fuelType === 'electricity'),
    { value: 0.2, unit: 'kg CO2e/kWh', source: 'entered: Grid of Spain, 2025', line: 3 },
  )
})

t.test('a distance trip takes further lines too', async (t) => {
  const trip = await estimate({ ...DISTANCE, furtherLines: [SHORE_POWER] }, 'distance')
  const alone = await estimate(DISTANCE, 'distance')
  t.ok(isNear(trip.co2eKg, alone.co2eKg + 60))
  t.equal(trip.hours, 12)
})

t.test('a vessel can run on electricity alone', async (t) => {
  const trip = await estimate({ ...SHORE_POWER, use: undefined })
  t.match(trip, { co2eKg: 60, wellToTankCo2eKg: 60, tankToWakeCo2eKg: 0, fuelLitres: null })
})

t.test('gives the emissions per person for every calculator', async (t) => {
  const trips = await Promise.all([
    estimate({ ...MGO, guests: 12 }),
    estimate({ ...DISTANCE, guests: 12 }, 'distance'),
    estimate({ amount: 1.5, unit: 't', guests: 12 }, 'custom'),
  ])
  const mismatches = trips.filter(
    ({ guests, co2eKg, co2eKgPerGuest }) =>
      guests !== 12 || Math.abs((co2eKgPerGuest ?? 0) - co2eKg / 12) > 0.001,
  )
  t.same(mismatches, [])
  t.match(await estimate(MGO), { guests: null, co2eKgPerGuest: null })
  t.match(await getErrors({ ...MGO, guests: 0 }), { guests: 'must be at least 1' })
  t.match(await getErrors({ ...MGO, guests: 1.5 }), { guests: 'must be a whole number' })
})

t.test('takes six further lines, not seven', async (t) => {
  const lines = (count: number) => Array.from({ length: count }, () => TENDER)
  const trip = await estimate({ ...MGO, furtherLines: lines(6) })
  t.equal(trip.lines.length, 7)
  t.match(await getErrors({ ...MGO, furtherLines: lines(7) }), {
    furtherLines: 'must have at most 6 values',
  })
})

t.test('rejects fields that do not belong to a fuel, at every line', async (t) => {
  t.same(
    await getErrors({
      ...MGO,
      unit: 'kWh',
      kgCo2ePerKwh: 0.2,
      furtherLines: [
        { ...TENDER, hvoPercent: 10 },
        { ...TENDER, certifiedGCo2ePerMj: 10 },
        { ...SHORE_POWER, kgCo2ePerKwh: undefined },
        { ...SHORE_POWER, unit: 'l' },
        { ...MGO, certifiedGCo2ePerMj: 10 },
      ],
    }),
    {
      unit: 'is for electricity only',
      kgCo2ePerKwh: 'is for electricity only',
      'furtherLines.0.hvoPercent': 'is for marine gas oil only',
      'furtherLines.1.certifiedGCo2ePerMj':
        'is for HVO and its blends, FAME, methanol and LNG only',
      'furtherLines.2.kgCo2ePerKwh': 'is required for electricity',
      'furtherLines.3.unit': 'must be kWh for electricity',
      'furtherLines.4.certifiedGCo2ePerMj':
        'is for HVO and its blends, FAME, methanol and LNG only',
    },
  )
  t.match(await getErrors({ ...DISTANCE, fuelType: 'electricity' }, 'distance'), {
    fuelType: /must be one of/,
  })
})

t.test('shows a negative part without shares or a bar', async (t) => {
  const html = await (
    await fetch(
      `${url}/calculator/fuel?fuelType=methanol&quantity=1&unit=t&certifiedGCo2ePerMj=20&certifiedAs=rfnbo`,
    )
  ).text()
  t.match(toText(html), /Burning the fuel 1,425\.6 kg Supplying the fuel -977\.0 kg/)
  t.notMatch(html, /emission-bar/)
})

t.test('HVO has the same rows with and without a certified value', async (t) => {
  const getRows = async (query: string) => {
    const html = await (
      await fetch(`${url}/calculator/fuel?fuelType=hvo&quantity=1000&unit=l${query}`)
    ).text()
    return [...html.matchAll(/<dt>([^<]+)<\/dt><dd>([^<]+)/g)].map(([, name, value]) => [
      name,
      value?.trim().replaceAll('\u00a0', ' '),
    ])
  }
  const [published, certified] = await Promise.all([
    getRows(''),
    getRows('&certifiedGCo2ePerMj=16.47'),
  ])
  const names = (rows: unknown[][]) => rows.map(([name]) => name).slice(0, 5)
  t.same(names(certified), names(published))
  t.same(published.slice(0, 2), [
    ['Burning the fuel', '35.6 kg'],
    ['Supplying the fuel', '564.4 kg'],
  ])
  // 780 kg × (0.00005 × 29.8 + 0.00018 × 273); 780 kg × 44 MJ/kg × 16.47 g/MJ
  t.same(certified.slice(0, 2), [
    ['Burning the fuel', '39.5 kg'],
    ['Supplying the fuel', '565.2 kg'],
  ])
  const biogenic = ['Biogenic CO₂, not included', '2,430 kg']
  t.same([published[4], certified[4]], [biogenic, biogenic])
})

t.test('FAME needs a certified value', async (t) => {
  const fame = { fuelType: 'fame', quantity: 1000, unit: 'l' }
  t.match(await getErrors(fame), { certifiedGCo2ePerMj: /is required for FAME/ })
  const found = await estimate({ ...fame, certifiedGCo2ePerMj: 14.9 })
  // 890 kg × (37 MJ/kg × 14.9 g/MJ ÷ 1000 − 2.834)
  t.ok(isNear(found.wellToTankCo2eKg ?? 0, 890 * (37 * 0.0149 - 2.834)))
  t.ok(isNear(found.tankToWakeCo2eKg ?? 0, 890 * (2.834 + 0.00005 * 29.8 + 0.00018 * 273)))
  t.same(found.gases, { co2Kg: 0, ch4Kg: 0.0445, n2oKg: 0.1602, biogenicCo2Kg: 2522.26 })
})

t.test('methanol and LNG can be certified as a biofuel or an e-fuel', async (t) => {
  const methanol = { fuelType: 'methanol', quantity: 1, unit: 't', certifiedGCo2ePerMj: 20 }
  t.match(await getErrors(methanol), { certifiedAs: /bio for a biofuel, rfnbo for an e-fuel/ })
  const [bio, rfnbo, natural] = await Promise.all([
    estimate({ ...methanol, certifiedAs: 'bio' }),
    estimate({ ...methanol, certifiedAs: 'rfnbo' }),
    estimate({ fuelType: 'methanol', quantity: 1, unit: 't' }),
  ])
  for (const found of [bio, rfnbo]) {
    t.ok(isNear(found.wellToTankCo2eKg ?? 0, 1000 * (19.9 * 0.02 - 1.375)))
    t.equal(found.tankToWakeCo2eKg, natural.tankToWakeCo2eKg)
  }
  t.match(bio.gases, { co2Kg: 0, biogenicCo2Kg: 1375 })
  t.match(rfnbo.gases, { co2Kg: 1375, biogenicCo2Kg: 0 })
  const sources = [bio, rfnbo].map(
    ({ factors }) => factors.find(({ name }) => name === 'Certified well-to-wake')?.source,
  )
  t.match(sources, [/biofuel/, /e-fuel \(RFNBO\)/])
  const lng = { fuelType: 'lng', quantity: 1, unit: 't', certifiedGCo2ePerMj: 20 }
  const bioLng = await estimate({ ...lng, certifiedAs: 'bio' })
  t.ok(isNear(bioLng.gases.biogenicCo2Kg ?? 0, 969 * 2.75), 'the slip is not burnt')
  t.ok(isNear(bioLng.gases.ch4Kg ?? 0, 31))
  t.match(await getErrors({ ...HVO, certifiedGCo2ePerMj: 20, certifiedAs: 'rfnbo' }), {
    certifiedAs: 'must be bio for HVO and FAME',
  })
  t.match(await getErrors({ ...MGO, fuelType: 'constructor', certifiedAs: 'rfnbo' }), {
    certifiedAs: 'is for certified values only',
  })
})

t.test('warns about shore power that burns a fuel', async (t) => {
  const shore = { ...TENDER, use: 'shore-power' }
  t.match((await estimate({ ...MGO, furtherLines: [shore] })).warnings, [
    { code: 'shore_power_not_electric', path: 'furtherLines.0.fuelType' },
  ])
})

t.test('warns about a certified value without its proof of sustainability', async (t) => {
  const certified = { ...HVO, certifiedGCo2ePerMj: 20 }
  const certificateReference = 'EU-ISCC-Cert-DE100-12345, ISCC EU'
  t.match((await estimate({ ...MGO, furtherLines: [TENDER, certified] })).warnings, [
    { code: 'certificate_reference_missing', path: 'furtherLines.1.certificateReference' },
  ])
  const found = await estimate({ ...certified, certificateReference })
  t.same(found.warnings, [])
  t.match(
    found.factors.find(({ name }) => name === 'Certified well-to-wake')?.source,
    certificateReference,
  )
  t.match(await getErrors({ ...HVO, certificateReference }), {
    certificateReference: 'is for certified values only',
  })
})

t.test('shore power from certified renewable electricity has no emissions', async (t) => {
  const renewable = { ...SHORE_POWER, kgCo2ePerKwh: 0, factorSource: 'Guarantee of origin 4711' }
  const [alone, trip] = await Promise.all([
    estimate({ ...renewable, use: undefined }),
    estimate({ ...MGO, furtherLines: [renewable] }),
  ])
  t.equal(alone.co2eKg, 0)
  t.equal(trip.co2eKg, (await estimate(MGO)).co2eKg)
  const html = await getPage({
    ...{ fuelType: 'electricity', quantity: '300', kgCo2ePerKwh: '0' },
    factorSource: 'Guarantee of origin 4711',
  })
  t.match(html, '<data value="0">0</data>')
  t.notMatch(toText(html), /NaN|Infinity/)
})

// The form

const PAGE = `${url}/calculator/fuel`
const toQuery = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()
const getPage = async (fields: Record<string, string>, headers = {}): Promise<string> =>
  (await fetch(`${PAGE}?${toQuery(fields)}`, { headers })).text()

const FORM = {
  fuelType: 'mgo',
  quantity: '1000',
  unit: 'l',
  guests: '12',
  'furtherLines.0.use': 'tender',
  'furtherLines.0.fuelType': 'petrol',
  'furtherLines.0.quantity': '40',
  'furtherLines.0.unit': 'l',
  'furtherLines.1.use': 'shore-power',
  'furtherLines.1.fuelType': 'electricity',
  'furtherLines.1.quantity': '300',
  'furtherLines.1.unit': 'l',
  'furtherLines.1.kgCo2ePerKwh': '0,2',
  'furtherLines.1.factorSource': 'Grid 2025',
}

t.test('the form calculates every line, and offers blank ones', async (t) => {
  const html = await getPage(FORM)
  const { co2eKg } = await estimate({
    ...MGO,
    furtherLines: [TENDER, { ...SHORE_POWER, factorSource: 'Grid 2025' }],
  })
  t.match(html, `<data value="${co2eKg}">`)
  const text = toText(html)
  t.match(text, /Tender: Petrol \(mineral\) 119 kg 3%/)
  t.match(text, /Shore power: Electricity 60 kg 2%/)
  t.match(text, /Per person 290\.4 kg CO₂e/)
  t.match(text, /3\. Shore power: Electricity .*300 kWh × 0\.2 kg CO₂e\/kWh 60 kg CO₂e/)
  t.match(html, /name="furtherLines\.2\.quantity" value=""/)
  t.match(html, /name="furtherLines\.3\.quantity" value=""/)
  t.notMatch(html, /furtherLines\.4/)
})

t.test('ignores blank lines and fields that the form hides', async (t) => {
  const html = await getPage({
    ...FORM,
    'furtherLines.0.quantity': '',
    'furtherLines.1.hvoPercent': '30',
    kgCo2ePerKwh: 'x',
    hvoPercent: '',
  })
  const { co2eKg } = await estimate({ ...MGO, furtherLines: [SHORE_POWER] })
  t.match(html, `<data value="${co2eKg}">`)
})

t.test('a missing factor of shore power does not hide the result of the other lines', async (t) => {
  const html = await getPage({ ...FORM, 'furtherLines.1.kgCo2ePerKwh': '' })
  const { co2eKg } = await estimate({ ...MGO, furtherLines: [TENDER] })
  t.match(html, `<data value="${co2eKg}">`)
  t.match(
    toText(html),
    /Shore power is not included in this result\. Still needed: emission factor of the electricity\./,
  )
  t.match(
    await getErrors({ ...MGO, furtherLines: [{ ...SHORE_POWER, kgCo2ePerKwh: undefined }] }),
    {
      'furtherLines.0.kgCo2ePerKwh': 'is required for electricity',
    },
  )
})

t.test('the form offers the UK grid, and FAME apart from 30% HVO', async (t) => {
  const html = await getPage({})
  t.match(html, /Use the UK grid: 0\.18436 kg CO₂e\/kWh/)
  t.match(html, /<option value="fame">Biodiesel \(FAME\)<\/option>/)
  t.match(toText(html), /VLSFO of an ISO 8217 grade from RMA to RMD Light fuel oil/)
  t.notMatch(html, /for B30/)
})

t.test('fuels are in groups, the usual ones first', async (t) => {
  const html = await getPage({})
  const [select = ''] = /<select id="fuelType"[^]*?<\/select>/.exec(html) ?? []
  t.match(
    [...select.matchAll(/<optgroup label="([^"]+)">/g)].map(([, label]) => label),
    ['Most used', 'Other oil fuels', 'Biofuels', 'Gas', 'New fuels', 'From shore'],
  )
  t.match(
    toText(select),
    /^ Marine diesel Petrol Heavy fuel oil Light fuel oil Road diesel Petrol with bioethanol Renewable/,
  )
  const values = [...select.matchAll(/<option value="([^"]+)"/g)].map(([, value]) => value)
  t.same(values.toSorted(), [...FUEL_TYPES].toSorted(), 'each fuel once')
})

t.test('the parts of a trip are named for their use, and stay in place', async (t) => {
  const getTitles = (html: string) =>
    [...html.matchAll(/<details class="further-line"([^>]*)>\s*<summary>([^]*?)<\/summary>/g)].map(
      ([, attributes = '', summary = '']) => {
        const title = toText(summary).trim()
        return attributes.includes(' open') ? title.replace(/^Add /, '') : title
      },
    )
  const blank = ['Add Tender', 'Add Generator', 'Add Shore power', 'Add Another fuel']
  t.same(getTitles(await getPage({})), blank)
  const html = await getPage({
    quantity: '1000',
    'furtherLines.2.use': 'tender',
    'furtherLines.2.fuelType': 'petrol',
    'furtherLines.2.quantity': '40',
    'furtherLines.3.use': 'tender',
    'furtherLines.3.fuelType': 'petrol',
    'furtherLines.3.quantity': '-1',
    'furtherLines.4.use': 'boilers',
    'furtherLines.4.fuelType': 'mgo',
    'furtherLines.4.quantity': '5',
  })
  t.same(getTitles(html), ['Boilers', 'Tender', 'Tender 2', ...blank.slice(1)])
  t.match(toText(html), /Tender 2: quantity : must be greater than 0\./)
  const distance = await (await fetch(`${url}/calculator/distance`)).text()
  t.same(getTitles(distance), [
    'Add Generator',
    'Add Tender',
    'Add Shore power',
    'Add Another fuel',
  ])
})

t.test('the form keeps the framework, and shows it with the gases', async (t) => {
  const html = await getPage({ ...FORM, framework: 'fueleu', 'furtherLines.0.quantity': '' })
  t.match(html, /<option value="fueleu" selected>/)
  const text = toText(html)
  t.match(text, /Framework: FuelEU Maritime \(IPCC AR4\)/)
  t.match(text, /CO₂ 2,738\skg CH₄ 0\.0427\skg N₂O 0\.1537\skg Biogenic CO₂ 0\skg/)
})

t.test('the length of the trip is proposed as generator hours', async (t) => {
  const getDistancePage = async (fields: Record<string, string>) =>
    (
      await fetch(
        `${url}/calculator/distance?${toQuery({
          ...{ distance: '120', speedKn: '10', consumption: '60', generatorLitresPerHour: '8' },
          ...fields,
        })}`,
      )
    ).text()
  const dataOf = async (data: object): Promise<string> =>
    `<data value="${(await estimate({ ...DISTANCE, generatorLitresPerHour: 8, ...data }, 'distance')).co2eKg}">`
  const week = await getDistancePage({ tripLength: '7' })
  t.match(week, await dataOf({ generatorHours: 168 }))
  t.match(week, /Blank: 168\u00a0hours, the length of the trip\./)
  t.notMatch(week, /class="warnings"/)
  t.match(
    await getDistancePage({ tripLength: '36', tripLengthUnit: 'h' }),
    await dataOf({ generatorHours: 36 }),
  )
  t.match(
    await getDistancePage({ tripLength: '7', generatorHours: '20' }),
    await dataOf({ generatorHours: 20 }),
  )
  const assumed = await getDistancePage({})
  t.match(assumed, await dataOf({}))
  t.match(toText(assumed), /Generators are calculated for the time under way only/)
  const planing = await getDistancePage({ hullType: 'planing', referenceSpeedKn: '12' })
  t.match(toText(planing), /cannot be used for a planing hull/)
})

t.test('says once what well-to-wake is, on calculated results only', async (t) => {
  const count = (html: string) => toText(html).match(/as ISO 14083 defines it/g)?.length ?? 0
  t.equal(count(await getPage(FORM)), 1)
  for (const path of ['/', '/calculator/fuel', '/calculator/custom?amount=5']) {
    t.equal(count(await (await fetch(url + path)).text()), 0, path)
  }
})

t.test('shows errors at the fields of their line', async (t) => {
  const html = await getPage(
    {
      ...FORM,
      'furtherLines.0.quantity': '-1',
      'furtherLines.1.kgCo2ePerKwh': '',
      submitted: 'yes',
    },
    { 'hx-request': 'true', 'hx-request-type': 'partial' },
  )
  const errorAt = (id: string): string | undefined =>
    new RegExp(`id="${id}-error"[^>]*>([^<]+)<`).exec(html)?.[1]
  t.match(errorAt('furtherLines-0-quantity'), /must be greater than 0/)
  t.equal(errorAt('furtherLines-1-kgCo2ePerKwh'), 'enter the emission factor of the electricity')
  t.match(toText(html), /Fix 2 errors/)
})
