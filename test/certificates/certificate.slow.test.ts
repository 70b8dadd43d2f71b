import type { FastifyInstance } from 'fastify'
import { PNG } from 'pngjs'
import t, { type Test } from 'tap'
import { createDrawing } from '../../src/certificates/certificate-drawing.js'
import { openCertificateFonts } from '../../src/certificates/certificate-fonts.js'
import { toPublished, type CertificateContent } from '../../src/certificates/certificate.js'
import { describeCertificate } from '../../src/certificates/describe-certificate.js'
import { drawCertificate } from '../../src/certificates/draw-certificate.js'
import { fitText } from '../../src/certificates/tagged-pdf.js'
import { getNumberFormatter } from '../../src/core/formatting/number-formatter.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import type { Order } from '../../src/orders/order.js'
import { startApp, temporaryFolder } from '../support/app.js'
import {
  getOrder,
  orderCertificate,
  startAutoFulfilment,
  waitForCertificate,
  waitForStatus,
} from '../support/guest-orders.js'
import { createGuest, findLink, placeOrder, toText, type Guest } from '../support/guest.js'
import { skipPauses, startMailService } from '../support/mail-service.js'
import { fillStore, RETIREMENT } from '../support/order-store.js'
import {
  findArabicFont,
  findCjkFont,
  readPdfInfo,
  readPdfText,
  renderPdf,
  SKIP_WITHOUT_POPPLER,
} from '../support/pdf.js'
import { manyOrders } from '../support/portal.js'
import { settle } from '../support/stripe.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'
import { readQrCode } from '../support/zbar.js'

const PUBLISHED = { isPublic: 'yes' }

async function getPdf(url: string): Promise<{ status: number; headers: Headers; pdf: Uint8Array }> {
  const response = await fetch(url)
  const pdf = new Uint8Array(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, pdf }
}

/** Waits until an order has another certificate; returns its path. */
const waitForNext = (guest: Guest, path: string, previous: string): Promise<string> =>
  waitFor(async () => {
    const link = findLink(await guest.get(path), 'View the page')
    return link !== '' && link !== previous && link
  })

/** Issues the certificate again. */
async function issueAgain({ database }: FastifyInstance, failures = 0): Promise<void> {
  await database.query('DELETE FROM certificates')
  await database.query(
    "UPDATE outbox SET state = 'pending', failures = ?, next_attempt_at = 0 WHERE queue = 'certificate'",
    [failures],
  )
}

t.test('a published certificate says who, how much, how and when', async (t) => {
  const service = await startAutoFulfilment(t, { BRAND_NAME: 'Marina Example' })
  const { guest, url, ann } = service
  const { path, certificate } = await orderCertificate(service, '1', {
    ...PUBLISHED,
    beneficiary: 'Crew of the Eendracht',
  })
  t.match(certificate, /^\/c\/[\w-]{22}$/)
  const page = await guest.get(certificate)
  const year = new Date().getUTCFullYear()
  for (const pattern of [
    /Carbon credit retirement certificate Crew of the Eendracht has funded the retirement of carbon credits for 2,000 kg of CO₂e/,
    /The trip’s own emissions are unchanged\. Exact amount: 2,000 kg of CO₂e\./,
    /Proof of retirement Registry Example Registry Provider Harbour Climate Reference 1 Serial numbers EXR-11-2024-1 .*Registry entry/,
    /Projects Mangroves of Gazi Bay Mangrove restoration .*· Kenya .*· Plan Vivo .*· vintage 2024 In the registry/,
    /About this certificate Trip .* Portfolio Harbour Mix/,
    new RegExp(
      `Ordered \\d+ \\w+ \\d{4} Issued \\d+ \\w+ ${year} Certificate number [2-9A-Z]{4}-[2-9A-Z]{4}`,
    ),
    /Issued by Marina Example/,
  ]) {
    t.match(toText(page), pattern)
  }
  t.notMatch(page.text, /Ann Example|ann@example\.com|CW-0/, 'nothing else about the guest')
  t.match(
    page.text,
    '<meta property="og:description" content="Crew of the Eendracht has funded the retirement of carbon credits for 2,000\u00a0kg of CO₂e. The trip’s own emissions are unchanged.">',
  )
  t.notMatch(
    page.text,
    /[Vv]erified(?! Carbon Standard)|<svg viewBox="0 0 24 24" aria-hidden="true"><path d="m5 12/,
  )
  t.equal(page.headers.get('x-robots-tag'), null, 'search engines may list it')
  t.equal(page.headers.get('cache-control'), 'private, max-age=60')
  t.equal(page.headers.get('referrer-policy'), 'no-referrer')
  const proof = await fetch(findLink(page, 'Provider’s certificate'))
  t.match(await proof.json(), { purchaser: 'Crew of the Eendracht', tons: 2 })

  for (const end of ['.', ')', '%20', '%E2%80%8B', '/', '%E2%80%9D).', '&amp;utm_source=mail']) {
    t.equal((await guest.get(certificate + end)).status, 200, `with ${end} stuck to its link`)
  }
  t.equal((await guest.get(`${certificate}x`)).status, 404)

  t.match(toText(await guest.get(path)), /Your certificate is ready.*certificate issued \d/)
  const portal = await ann.get('/admin/orders/1')
  t.match(portal.text, `href="${certificate}"`)

  const [, image = ''] = /property="og:image" content="([^"]+)"/.exec(page.text) ?? []
  t.equal(image, `${url}${certificate}/preview.png`)
  const { width, height } = PNG.sync.read(Buffer.from(await (await fetch(image)).arrayBuffer()))
  t.same([width, height], [1200, 630])
  t.equal((await guest.get(`${certificate}x/preview.png`)).status, 404)

  const { status, headers } = await getPdf(url + findLink(page, 'Download PDF'))
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'application/pdf')
  t.match(headers.get('content-disposition'), /^inline; filename="certificate-[\w-]{9}\.pdf"$/)
  t.notMatch(JSON.stringify(service.log), certificate.slice(3), 'no code is logged')
})

t.test(
  'without consent, names are only in the PDF of the guest',
  SKIP_WITHOUT_POPPLER,
  async (t) => {
    const service = await startAutoFulfilment(t)
    const { guest, url } = service
    const { path, certificate } = await orderCertificate(service, '1')
    const page = await guest.get(certificate)
    t.match(
      toText(page),
      /Carbon credits for 2,000 kg of CO₂e have been retired for the holder of this certificate\./,
    )
    t.match(toText(page), /Registry Example Registry .* Serial numbers EXR-11-2024-1 /)
    t.equal((await guest.get(findLink(page, 'Mangroves of Gazi Bay'))).status, 200)
    for (const link of ['Registry entry', 'Provider’s certificate']) {
      t.equal(findLink(page, link), '', 'it may show the name')
    }
    t.notMatch(page.text, /Ann Example|chose/)
    t.equal(page.headers.get('x-robots-tag'), 'noindex')
    const published = await getPdf(`${url}${certificate}.pdf`)
    t.notMatch(await readPdfText(t, published.pdf), /Ann Example/)
    const own = await getPdf(`${url}${path}/certificate.pdf`)
    t.match(await readPdfText(t, own.pdf), /Ann Example has funded .*EXR-11-2024-1 /s)
    t.equal(published.headers.get('x-robots-tag'), 'noindex')
    t.equal(own.headers.get('cache-control'), 'no-store')
  },
)

t.test('a certificate is withdrawn with its order, and valid again after an undo', async (t) => {
  const service = await startAutoFulfilment(t)
  const { guest, ann, url } = service
  const { path, certificate } = await orderCertificate(service, '1', PUBLISHED)
  const { version } = await ann.call('PATCH', '/api/admin/orders/1', { status: 'refunded' })
  const withdrawn = await guest.get(certificate)
  t.equal(withdrawn.status, 410)
  t.match(toText(withdrawn), /no longer valid .* has been withdrawn\. It no longer proves/)
  t.notMatch(withdrawn.text, /Ann Example/)
  t.equal((await getPdf(`${url}${certificate}.pdf`)).status, 410)
  t.equal((await getPdf(`${url}${path}/certificate.pdf`)).status, 410)
  t.notMatch(toText(await guest.get(path)), /Your certificate/)
  t.match(toText(await ann.get('/admin/orders/1')), /Withdrawn . The order is refunded/)

  await ann.post('/admin/orders/1/restore', { version: String(version) })
  await waitForStatus(ann, '1', 'fulfilled')
  t.equal((await guest.get(certificate)).status, 200)
})

t.test('a certificate without the provider’s details outlived its evidence', async (t) => {
  const service = await startAutoFulfilment(t)
  const { provider, ann, app, guest } = service
  const { path } = await orderCertificate(service, '1')
  provider.fault = 503
  await issueAgain(app, 3)
  const certificate = await waitForCertificate(guest, path)
  t.match(toText(await guest.get(certificate)), /have been retired/)
  await ann.call('PATCH', '/api/admin/orders/1', { orderSourceId: 'typed' })
  t.equal((await guest.get(certificate)).status, 410)
})

t.test('a restored order got a second certificate with another vessel', async (t) => {
  const service = await startAutoFulfilment(t)
  const { ann, guest } = service
  const { path, certificate } = await orderCertificate(service, '1', PUBLISHED)
  await ann.call('DELETE', '/api/admin/orders/1')
  await ann.call('PATCH', '/api/admin/orders/1', { vesselName: 'Black Pearl' })
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'fulfilled' })
  await settle()
  t.equal(findLink(await guest.get(path), 'View the page'), certificate)
  const page = await guest.get(certificate)
  t.equal(page.status, 200)
  t.notMatch(page.text, /Black Pearl/)
})

t.test('an order that was placed again kept the certificate of its lost order', async (t) => {
  const service = await startAutoFulfilment(t)
  const { ann, guest } = service
  const { path, certificate } = await orderCertificate(service, '1', PUBLISHED)
  await ann.call('DELETE', '/api/admin/orders/1')
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'fulfilled', orderSourceId: null })
  await ann.post('/admin/orders/1/fulfilment/reset', { lostProviderId: '1' })
  await ann.call('PATCH', '/api/admin/orders/1', { orderSourceId: '1' })
  t.equal((await guest.get(certificate)).status, 410, 'the ID that was given up is no evidence')
  t.equal((await guest.get(`${certificate}/preview.png`)).status, 410)
  t.notMatch(toText(await guest.get(path)), /View the page/)
})

t.test('a certificate contradicted the provider’s record', async (t) => {
  const { provider, ann, guest, app } = await startAutoFulfilment(t)
  const path = await placeOrder(guest)
  provider.fault = 'no_response_after_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  provider.fault = null
  await waitForStatus(ann, '1', 'fulfilled')
  await waitForCertificate(guest, path)
  const [record] = provider.ledger.orders
  if (record === undefined) throw new Error('not placed')
  record.tons = 0.002
  await issueAgain(app)
  await waitForEqual(
    t,
    () => app.database.query("SELECT state, failures FROM outbox WHERE queue = 'certificate'"),
    [{ state: 'pending', failures: 1 }],
  )
  t.notMatch(toText(await guest.get(path)), /View the page/)
  record.tons = 2
  await skipPauses(app)
  await waitForCertificate(guest, path)
})

t.test('a certificate with a retirement kept an order at the provider that was lost', async (t) => {
  const service = await startAutoFulfilment(t)
  const { ann, guest } = service
  const { path, certificate } = await orderCertificate(service, '1')
  await ann.call('PATCH', '/api/admin/orders/1', { retirement: RETIREMENT })
  const second = await waitForNext(guest, path, certificate)
  await ann.call('PATCH', '/api/admin/orders/1', { orderSourceId: 'typed' })
  t.equal((await guest.get(second)).status, 410)
  const third = await waitForNext(guest, path, second)
  t.equal((await guest.get(third)).status, 200)
})

t.test('a certificate with a retirement that was corrected stayed valid', async (t) => {
  const service = await startAutoFulfilment(t)
  const { ann, guest, provider } = service
  await orderCertificate(service, '1', PUBLISHED)
  const enter = (reference: string) =>
    ann.call('PATCH', '/api/admin/orders/1', { retirement: { ...RETIREMENT, reference } })
  const getNewest = async () => {
    const sql = 'SELECT code FROM certificates ORDER BY issued_at DESC LIMIT 1'
    const [row] = await service.app.database.query<{ code: string }>(sql)
    return guest.get(`/c/${row?.code ?? ''}`)
  }
  await enter('WRONG-111')
  await waitFor(async () => (await getNewest()).text.includes('WRONG-111'))
  provider.fault = 503
  await enter('RIGHT-222')
  t.equal((await getNewest()).status, 410)
})

t.test('a certificate stated a mass that its order no longer had', async (t) => {
  const service = await startAutoFulfilment(t, { AUTO_FULFIL: 'false' })
  const { ann, guest } = service
  const change = (changes: object) => ann.call('PATCH', '/api/admin/orders/1', changes)
  const path = await placeOrder(guest, PUBLISHED)
  await change({ status: 'paid', retirement: RETIREMENT })
  const first = await waitForCertificate(guest, path)
  t.match(toText(await guest.get(first)), /Exact amount: 2,000 kg/)
  await change({ co2eKg: 500 })
  await change({ status: 'fulfilled' })
  const second = await waitForNext(guest, path, first)
  t.match(toText(await guest.get(second)), /Exact amount: 500 kg/)
})

t.test('a certificate linked the order of another guest at the provider', async (t) => {
  const service = await startAutoFulfilment(t)
  const { ann, guest, url, provider } = service
  await orderCertificate(service, '1', PUBLISHED)
  const [first] = provider.ledger.orders
  if (first === undefined) throw new Error('nothing was placed')
  provider.ledger.add = () => first
  const bob = createGuest(url)
  const path = await placeOrder(bob, { ...PUBLISHED, name: 'Bob', email: 'bob@example.com' })
  await ann.call('PATCH', '/api/admin/orders/2', { status: 'paid' })
  await waitForStatus(ann, '2', 'processing')
  await ann.call('PATCH', '/api/admin/orders/2', { retirement: RETIREMENT })
  const page = await guest.get(await waitForCertificate(bob, path))
  t.match(toText(page), /Bob has funded/)
  t.notMatch(toText(page), /Provider/)
})

t.test('an order that was never placed gets no certificate from its status', async (t) => {
  const { ann, url, smtp, waitForMails } = await startMailService(t)
  const guest = createGuest(url)
  const path = await placeOrder(guest, PUBLISHED)
  await waitForMails(1)
  const { paidAt } = await ann.call('PATCH', '/api/admin/orders/1', { status: 'fulfilled' })
  t.ok(paidAt, 'it skipped past paid')
  await waitForMails(2)
  t.match(toText(await guest.get(path)), /Retirement pending: .* certificate once they are retired/)
  t.match(toText(await ann.get('/admin/orders/1')), /Pending . There is no evidence yet/)
  const list = await ann.call('GET', '/api/admin/orders?exception=no_evidence')
  t.equal(list.totalItems, 1)
  await ann.call('PATCH', '/api/admin/orders/1', { orderSourceId: 'typed' })
  t.equal((await ann.call('GET', '/api/admin/orders?exception=no_evidence')).totalItems, 1)

  const form = { version: '3', ...RETIREMENT }
  await ann.post('/admin/orders/1/edit?group=retirement', form)
  t.match(await getOrder(ann, '1'), { retirement: RETIREMENT })
  const certificate = await waitForCertificate(guest, path)
  t.match(
    toText(await guest.get(certificate)),
    /Registry Verra Reference VCS-1-2-3 Retired on 31 January 2026 Standard Verified Carbon Standard Vintage 2021/,
  )
  t.match(
    toText(await guest.get(path)),
    /Carbon credits for \S+ .?kg of CO₂e have been retired for you/,
  )
  t.equal((await ann.call('GET', '/api/admin/orders?exception=no_evidence')).totalItems, 0)
  await waitForMails(3)
  t.same(
    smtp.mails.map(({ headers }) => headers.get('subject')),
    [
      'Order CW-000001 received',
      'Payment received for order CW-000001',
      'Your certificate for order CW-000001',
    ],
  )

  await ann.call('DELETE', '/api/admin/orders/1')
  t.equal((await guest.get(certificate)).status, 410)
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'fulfilled' })
  t.equal((await guest.get(certificate)).status, 200)
  await ann.call('PATCH', '/api/admin/orders/1', { retirement: null })
  t.equal((await guest.get(certificate)).status, 410, 'its evidence was taken back')
})

t.test('a note on an imported order emailed its guest a certificate', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const checkout = {
    ...{ beneficiary: 'Ann', isPublic: false, company: null, vatId: null },
    ...{ portfolioId: null, portfolioName: null, sharePercent: 100, pricePerTonneMinor: 2450 },
    ...{ offsetMinor: 4900, serviceFeeMinor: 0, paymentMethod: 'invoice' as const },
  }
  const imported = manyOrders(1).map((order): Order => {
    const paid = { status: 'paid' as const, paidAt: order.placedAt, retirement: RETIREMENT }
    return { ...order, ...paid, origin: 'guest', checkout }
  })
  await fillStore(getDatabasePath(DATA_DIR), 'UTC', imported)
  const { ann, getStates } = await startMailService(t, { DATA_DIR })
  await ann.call('PATCH', '/api/admin/orders/1', { notes: 'Called' })
  await settle()
  t.same(await getStates(), [])
  t.match(toText(await ann.get('/admin/orders/1')), /Certificate Edit Pending/)
  await ann.call('PATCH', '/api/admin/orders/1', {
    retirement: { ...RETIREMENT, reference: 'VCS-4' },
  })
  await waitForEqual(t, getStates, ['sent'])
})

t.test('codes and tokens without a certificate look all the same', async (t) => {
  const service = await startAutoFulfilment(t)
  const { guest, url } = service
  const { path, certificate } = await orderCertificate(service, '1')
  const code = certificate.slice(3)
  const pages = new Set<string>()
  for (const unknown of ['AAAAAAAAAAAAAAAAAAAAAA', code.slice(0, -1), `${code}x`, '1']) {
    for (const address of [`/c/${unknown}`, `/c/${unknown}.pdf`, `/o/${unknown}/certificate.pdf`]) {
      const { status, text } = await guest.get(address)
      t.equal(status, 404, address)
      pages.add(text)
    }
  }
  t.equal(pages.size, 1)
  const other = createGuest(url)
  t.equal((await other.get(`/o/${code}/certificate.pdf`)).status, 404, 'a code is no token')
  t.equal((await other.get(`/c/${path.slice(3)}`)).status, 404, 'a token is no code')
})

t.test(
  'a name without a font is shown on the page, and named where the PDF is missing',
  async (t) => {
    const service = await startAutoFulfilment(t)
    const { guest, ann, url } = service
    const { path, certificate } = await orderCertificate(service, '1', {
      ...PUBLISHED,
      beneficiary: 'مثال',
    })
    const problem = 'The PDF cannot show “مثال”, because there is no font for Arabic.'
    const page = await guest.get(certificate)
    t.match(toText(page), /مثال has funded/)
    t.match(toText(page), problem)
    t.equal(findLink(page, 'Download PDF'), '')
    t.match(toText(await guest.get(path)), problem)
    t.match(
      toText(await ann.get('/admin/orders/1')),
      `${problem} Set CERTIFICATE_FONT to add a font.`,
    )
    for (const address of [`${certificate}.pdf`, `${path}/certificate.pdf`]) {
      const { status, text } = await guest.get(address)
      t.equal(status, 422)
      t.match(toText({ status, text, headers: new Headers() }), problem)
    }
    t.equal((await fetch(url)).status, 200)
  },
)

t.test('CERTIFICATE_FONT must be a font', async (t) => {
  for (const path of ['/nowhere/font.ttf', process.execPath]) {
    await t.rejects(startApp(t, { CERTIFICATE_FONT: path }), /CERTIFICATE_FONT must be the path/)
  }
})

const CODE = 'A'.repeat(22)
const URL_OF_PDF = `https://carbon.example.com/c/${CODE}`

const CONTENT: CertificateContent = {
  beneficiary: 'Ann Example',
  isPublic: true,
  vesselName: 'Αργοναύτης',
  imoNumber: '8814275',
  trip: '500 l, Marine diesel / gas oil',
  co2eKg: 1_653.123,
  portfolioName: 'Harbour Mix',
  projects: Array.from({ length: 8 }, (_, i) => ({ name: `Project ${i + 1}`, country: 'Kenya' })),
  retirement: { ...RETIREMENT, url: 'https://registry.example.com/retirements/1' },
  provider: {
    name: 'Harbour Climate',
    orderId: 'ch_1',
    certificateUrl: null,
    registryUrl: null,
    serialNumbers: Array.from({ length: 20 }, (_, i) => `VCS-VCU-262-VER-KE-${i}`),
  },
}

/** What certificates of the first versions contain. */
const OLD_CONTENT: CertificateContent = {
  ...{ beneficiary: 'Ann Example', isPublic: true, vesselName: null, imoNumber: null, trip: null },
  ...{ co2eKg: 420, portfolioName: null, projects: [], provider: null },
}

/** Draws the PDF of a certificate with some content. */
function drawContent(content: CertificateContent, font?: string): Promise<Buffer> {
  const issuedAt = '2026-11-25T00:00:00Z'
  const certificate = { code: CODE, orderId: '1', issuedAt, content }
  const formatDate = (timestamp: string) => `day ${timestamp.slice(0, 10)}`
  const format = { numbers: getNumberFormatter('en-GB'), formatDate }
  const view = describeCertificate(certificate, content, format)
  const sheet = { view, issuedAt, url: URL_OF_PDF, brandName: 'Marina Example', logoPath: null }
  return drawCertificate({ sheet, fontPath: font })
}

const draw = (beneficiary: string, font?: string): Promise<Buffer> =>
  drawContent({ ...CONTENT, beneficiary }, font)

t.test('the text of a PDF can be copied', SKIP_WITHOUT_POPPLER, async (t) => {
  const names = [
    'Zoë Łukasiewicz-Ñandú',
    'Νικόλαος Παπαδόπουλος',
    'Екатерина Достоевская',
    'Nguyễn Thị Hương',
    `${'A very long name of an association '.repeat(3)}and more`,
    'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  ]
  for (const name of names) {
    const text = await readPdfText(t, await draw(name))
    // The longest word is broken.
    const joined = (part: string) => part.replaceAll(' ', '')
    t.ok(joined(text).includes(joined(name)), `${name}: ${text}`)
    t.match(text, /1,653 kg of CO₂e/)
    t.match(text, /The trip’s own emissions are unchanged\. Exact amount: 1,653\.123 kg of CO₂e\./)
    t.match(text, /Αργοναύτης/)
    t.match(text, /Project 8 · Kenya/)
    t.match(text, /VCS-VCU-262-VER-KE-19/)
  }
})

t.test('a PDF is tagged, with a title and a language', SKIP_WITHOUT_POPPLER, async (t) => {
  const pdf = await draw('Ann Example')
  const info = await readPdfInfo(t, pdf)
  t.match(info, /Title: +Carbon credit retirement certificate \w{4}-\w{4}/)
  t.match(info, /Tagged: +yes/)
  const structure = await readPdfInfo(t, pdf, '-struct-text')
  const order = [
    ...['Figure', 'H1', 'Ann Example has funded .* 1,653 kg of CO₂e', 'H2', 'Proof of retirement'],
    ...['https://registry.example.com/retirements/1', 'LI', 'Lbl', 'Registry', 'LBody', 'Verra'],
    ...['Project 8 · Kenya', 'Vessel', 'Figure', 'Check this certificate', URL_OF_PDF],
  ]
  t.match(structure.replace(/[\s\u00a0"]+/g, ' '), new RegExp(`^Document.*${order.join('.*')}`))
  const source = pdf.toString('latin1')
  t.match(source, '/Lang (en-GB)')
  t.match(source, /\/Alt \(A sailing boat off a coast with a lighthouse\.\)/)
})

t.test(
  'a PDF is one page, and continues on another one if it is long',
  SKIP_WITHOUT_POPPLER,
  async (t) => {
    const countPages = async (content: CertificateContent) =>
      Number(/Pages: +(\d+)/.exec(await readPdfInfo(t, await drawContent(content)))?.[1])
    const { provider } = CONTENT
    if (!provider) throw new Error('no provider')
    t.equal(await countPages(CONTENT), 1)
    t.equal(await countPages(OLD_CONTENT), 1)
    t.equal(await countPages(toPublished({ ...CONTENT, isPublic: false })), 1)
    const serialNumbers = Array.from({ length: 20 }, (_, i) => `${'SERIAL-'.repeat(13)}${i}`)
    const long = { ...CONTENT, provider: { ...provider, serialNumbers } }
    t.equal(await countPages(long), 2)
    const text = await readPdfText(t, await drawContent(long))
    for (const serial of serialNumbers) t.ok(text.includes(serial), serial)
    t.match(text, 'continued')
  },
)

t.test('certificates of earlier versions say what they do not prove', async (t) => {
  const service = await startAutoFulfilment(t)
  const { guest, app, url } = service
  const { certificate } = await orderCertificate(service, '1', PUBLISHED)
  const contents: [CertificateContent, RegExp][] = [
    [OLD_CONTENT, /420 kg of CO₂e .*No registry entry is shown here.* Issued/],
    [{ ...OLD_CONTENT, beneficiary: null, isPublic: false }, /No registry entry is shown here/],
  ]
  for (const [content, pattern] of contents) {
    await app.database.query('UPDATE certificates SET content = ?', [JSON.stringify(content)])
    const page = await guest.get(certificate)
    t.match(toText(page), pattern)
    t.notMatch(page.text, /undefined|null/)
    t.equal((await getPdf(url + findLink(page, 'Download PDF'))).status, 200)
  }
})

t.test('the drawing suits the projects', (t) => {
  const describe = (name: string, kind?: string) =>
    createDrawing([{ name, country: null, ...(kind === undefined ? {} : { kind }) }]).description
  t.match(describe('Gazi Bay', 'Mangrove restoration'), /mangroves$/)
  t.match(describe('Wind over Isthmus'), /wind turbines$/)
  t.match(describe('Rewinding the clock'), /lighthouse$/)
  t.match(createDrawing([]).description, /lighthouse$/)
  t.end()
})

t.test('the QR code of a PDF opens the certificate', SKIP_WITHOUT_POPPLER, async (t) => {
  t.equal(await readQrCode(await renderPdf(t, await draw('Ann Example'))), URL_OF_PDF)
})

t.test('characters without a font are found before a PDF is drawn', (t) => {
  const fonts = openCertificateFonts(undefined)
  const cases: [string, string[]][] = [
    ['Zoë Αργοναύτης Екатерина – “№ 7” CO₂e', []],
    ['王小明 かな カナ Ann Šárka Ωμέγα', []],
    ['张伟 (Zhang) 한국 김철수 王', []],
    ['مثال', ['Arabic']],
    ['🐋', ['emoji']],
    ['𝔄', ['U+1D504']],
    ['a\u0316', ['U+0316']],
  ]
  for (const [text, scripts] of cases) t.same(fonts.findMissingScripts(text), scripts, text)
  t.end()
})

t.test('text is broken or made smaller to fit, and is cut off last', (t) => {
  const fonts = openCertificateFonts(undefined)
  const fit = (text: string) =>
    fitText(fonts, text, { weight: 'bold', width: 200, maxLines: 2, sizes: [40, 20, 10] })
  const toLines = (text: string) =>
    fit(text).lines.map(({ runs }) => runs.map((run) => run.text).join(''))
  t.equal(fit('Ann').size, 40)
  t.same(toLines('Ann Example'), ['Ann', 'Example'])
  t.equal(fit('Unbreakable'.repeat(2)).size, 10)
  t.match(toLines('word '.repeat(60)).at(-1), /…$/)
  t.ok(fit('word '.repeat(60)).lines.every(({ width }) => width <= 200))
  t.end()
})

t.test('invisible characters print nothing, and accents do not pile up', (t) => {
  const fonts = openCertificateFonts(undefined)
  const fit = (text: string) =>
    fitText(fonts, text, { weight: 'bold', width: 400, maxLines: 2, sizes: [40, 20] })
  for (const text of ['Ha\u00advel', '\u200bHav\u200c\u200del', '\u200fHavel\u200e\u2060']) {
    t.same(fit(text), fit('Havel'), JSON.stringify(text))
  }
  t.same(fit('海\u00ad丸'), fit('海丸'), 'in a font with a glyph for it')
  t.same(fit(`A${'\u0301\u0300'.repeat(20)}nn`), fit('A\u0301\u0300\u0301nn'))
  t.same(fit('Nguyễn Ḗ'.normalize('NFD')), fit('Nguyễn Ḗ'))
  t.end()
})

t.test('stacked accents do not cover the header of a PDF', SKIP_WITHOUT_POPPLER, async (t) => {
  const render = async (accents: string) => {
    const { pixels } = await renderPdf(t, await draw(`A${accents}nn`))
    return Buffer.from(pixels)
  }
  const most = await render('\u0301\u0300\u0301')
  t.ok(most.equals(await render('\u0301\u0300'.repeat(30))))
  t.notOk(most.equals(await render('')))
})

function skipWithout(font: string | null): { skip: string | false } {
  return { skip: font === null ? 'needs a font (npm test installs it on Debian)' : false }
}

t.test(
  'Chinese, Japanese and Korean names and names that mix scripts are in the PDF',
  SKIP_WITHOUT_POPPLER,
  async (t) => {
    for (const name of [
      '王小明',
      '张伟 (Zhang)',
      '김철수 王',
      'Šárka 明 Ωμέγα',
      'ヨットクラブ（Ann）',
    ]) {
      t.match(await readPdfText(t, await draw(name)), name)
    }
  },
)

t.test('CERTIFICATE_FONT adds characters', skipWithout(findCjkFont()), async (t: Test) => {
  const font = findCjkFont() ?? ''
  t.same(openCertificateFonts(font).findMissingScripts('王小明 Ann'), [])
  if (SKIP_WITHOUT_POPPLER.skip !== false) return
  t.match(await readPdfText(t, await draw('王小明 かな 한국 Ann', font)), /王小明 かな 한국 Ann/)
})

t.test('names from right to left', skipWithout(findArabicFont()), async (t: Test) => {
  const font = findArabicFont() ?? ''
  const fonts = openCertificateFonts(font)
  /** The runs from left to right; fontkit reverses those with letters from right to left. */
  const split = (text: string) => fonts.split(text, 'bold').map((run) => run.text)
  t.same(split('سفينة نسيم البحر'), ['سفينة نسيم البحر'])
  t.same(split('Ann של שלום'), ['Ann ', 'של שלום'])
  t.same(
    split('נסים 37 (Ann)'),
    ['(', 'Ann', ') ', '37', 'נסים '].flatMap((part) => part),
  )
  t.same(fonts.findMissingScripts('نسيم (البحر) 3 Ann'), [])
  if (SKIP_WITHOUT_POPPLER.skip !== false) return
  for (const name of ['سفينة نسيم البحر', 'שלום עולם']) {
    t.match((await readPdfText(t, await draw(name, font))).normalize('NFKC'), name)
  }
})
