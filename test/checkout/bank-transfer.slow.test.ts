import { PNG } from 'pngjs'
import t, { type Test } from 'tap'
import {
  buildEpcPayload,
  formatIban,
  isIban,
} from '../../src/checkout/bank-transfer/epc-payload.js'
import { checkoutConfig } from '../../src/checkout/checkout-config.js'
import { findConfigErrors } from '../../src/core/config/config-part.js'
import { DAY_MS } from '../../src/core/time.js'
import { createGuest, placeOrder, toText, type Guest } from '../support/guest.js'
import { startMailService } from '../support/mail-service.js'
import { startTwoAdmins } from '../support/page-client.js'
import { readPdfInfo, readPdfText, renderPdf, SKIP_WITHOUT_POPPLER } from '../support/pdf.js'
import { readQrCode, toGray } from '../support/zbar.js'

const ACCOUNT = {
  PAYMENT_IBAN: 'pt50 0002 0123 1234 5678 9015 4',
  PAYMENT_BIC: 'CGDIPTPL',
  PAYMENT_ACCOUNT_NAME: 'Harbour Example & Søn',
  CONTACT: 'crew@harbour.example',
}
const ENVIRONMENT = {
  CURRENCY: 'EUR',
  PRICE_PER_TONNE: '24.50',
  SERVICE_FEE_PERCENT: '10',
  ...ACCOUNT,
}
const PAYLOAD = [
  ...['BCD', '002', '1', 'SCT', 'CGDIPTPL', 'Harbour Example & Søn'],
  ...['PT50000201231234567890154', 'EUR53.90', '', '', 'CW-000001'],
].join('\n')

const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
const inDays = (days: number): string => dates.format(Date.now() + days * DAY_MS)

async function startWithOrder(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const service = await startTwoAdmins(t, { ...ENVIRONMENT, ...environment })
  const guest = createGuest(service.url)
  const path = await placeOrder(guest, { company: 'Example Ltd', vatId: 'PT123456789' })
  const change = (body: object) => service.ann.call('PATCH', '/api/admin/orders/1', body)
  return { ...service, guest, path, change }
}

/** Reads the QR code of the page; `null` if there is none. */
async function readCode(guest: Guest, path: string): Promise<string | null> {
  const { text } = await guest.get(path)
  const [, data] = /src="data:image\/png;base64,([^"]+)"/.exec(text) ?? []
  if (data === undefined) return null
  const { width, height, data: pixels } = PNG.sync.read(Buffer.from(data, 'base64'))
  return readQrCode(toGray(width, height, pixels))
}

t.test('an IBAN is checked and printed in groups', async (t) => {
  // The examples of the registry of IBANs (ISO 13616)
  for (const iban of ['DE89370400440532013000', 'NO9386011117947', 'GB29 NWBK 6016 1331 9268 19']) {
    t.ok(isIban(iban), iban)
  }
  for (const text of ['DE89370400440532013001', 'DE98370400440532013000', 'DE89', '', 'DE8937O4']) {
    t.notOk(isIban(text), text)
  }
  t.equal(formatIban('NO9386011117947'), 'NO93 8601 1117 947')
})

t.test('the account is checked at the start', async (t) => {
  const find = (environment: NodeJS.ProcessEnv) => findConfigErrors(checkoutConfig, environment)
  t.same(find(ACCOUNT), [])
  t.match(find({ PAYMENT_IBAN: 'PT50000201231234567890155' }), [/PAYMENT_IBAN must be an IBAN/])
  t.match(find({ PAYMENT_BIC: 'CGDI' }), [/PAYMENT_BIC must be a BIC/])
  t.match(find({ PAYMENT_ACCOUNT_NAME: 'Harbour\nExample' }), [/PAYMENT_ACCOUNT_NAME must be/])
})

t.test('the code follows EPC069-12, or there is none', async (t) => {
  const account = { name: 'Harbour', iban: 'DE89370400440532013000', bic: null }
  const amount = { amountMinor: 1230, currency: 'EUR' }
  t.equal(
    buildEpcPayload(account, amount, 'CW-1'),
    'BCD\n002\n1\nSCT\n\nHarbour\nDE89370400440532013000\nEUR12.30\n\n\nCW-1',
  )
  const british = { ...account, iban: 'GB29NWBK60161331926819' }
  t.equal(buildEpcPayload(british, amount, 'CW-1'), null, 'needs a BIC outside the EEA')
  t.match(buildEpcPayload({ ...british, bic: 'NWBKGB2L' }, amount, 'CW-1'), /^BCD/)
  for (const other of [
    { ...amount, currency: 'USD' },
    { ...amount, amountMinor: 0 },
    { ...amount, amountMinor: 100_000_000_000 },
  ]) {
    t.equal(buildEpcPayload(account, other, 'CW-1'), null)
  }
  t.match(buildEpcPayload({ ...account, name: 'ø'.repeat(70) }, amount, 'CW-1'), /^BCD/)
  t.equal(buildEpcPayload({ ...account, name: '船'.repeat(70) }, amount, '船'.repeat(40)), null)
})

t.test('an unpaid order says how to pay by bank transfer', async (t) => {
  const { guest, path, change } = await startWithOrder(t)
  const page = await guest.get(path)
  t.match(
    toText(page),
    /Pay by bank transfer €53\.90 .*Amount €53\.90 .*Reference CW-000001 .*IBAN PT50 0002 0123 1234 5678 9015 4 .*BIC CGDIPTPL .*Account name Harbour Example & Søn/,
  )
  t.match(toText(page), `Due on ${inDays(14)}`)
  for (const copied of ['53.90', 'CW-000001', 'PT50000201231234567890154', 'CGDIPTPL']) {
    t.match(page.text, `data-copy="${copied}"`)
  }
  t.match(page.text, /alt="QR code for a transfer of €53\.90 to Harbour Example &amp; Søn/)
  t.equal(await readCode(guest, path), PAYLOAD)

  await change({ amountMinor: 4000 })
  t.equal(await readCode(guest, path), PAYLOAD.replace('53.90', '40.00'))
  await change({ currency: 'USD' })
  t.match(toText(await guest.get(path)), /IBAN PT50/)
  t.equal(await readCode(guest, path), null, 'only for euros')
  await change({ status: 'paid' })
  t.notMatch(toText(await guest.get(path)), /IBAN|bank transfer/)
})

t.test('instructions stand alone, and beside the account', async (t) => {
  const PAYMENT_INSTRUCTIONS = 'Or at the desk\\n<cash> only'
  const { guest, path } = await startWithOrder(t, { PAYMENT_INSTRUCTIONS })
  t.match(toText(await guest.get(path)), /IBAN PT50.* Or at the desk <cash> only/)
  const alone = await startWithOrder(t, { PAYMENT_INSTRUCTIONS, PAYMENT_IBAN: '' })
  const text = toText(await alone.guest.get(alone.path))
  t.match(
    text,
    /How to pay €53\.90 Or at the desk <cash> only Payment reference CW-000001 Due date/,
  )
  t.notMatch(text, /IBAN|Scan/)
})

t.test('a payment request as PDF, while the order is unpaid', SKIP_WITHOUT_POPPLER, async (t) => {
  const { url, guest, path, change } = await startWithOrder(t)
  const response = await fetch(`${url}${path}/payment-request.pdf`)
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'application/pdf')
  t.equal(
    response.headers.get('content-disposition'),
    'inline; filename="payment-request-CW-000001.pdf"',
  )
  t.equal(response.headers.get('referrer-policy'), 'no-referrer')
  t.equal(response.headers.get('cache-control'), 'no-store')
  const pdf = new Uint8Array(await response.arrayBuffer())
  const text = await readPdfText(t, pdf)
  for (const part of [
    'Payment request',
    'crew@harbour.example',
    'Ann Example',
    'Example Ltd',
    'VAT ID PT123456789',
    inDays(14),
    /Carbon credits for 2,000 kg of CO₂e €49\.00 Service fee €4\.90 Total €53\.90/,
    'PT50 0002 0123 1234 5678 9015 4',
    'CW-000001',
    'not an invoice for tax purposes',
  ]) {
    t.match(text, part)
  }
  const info = await readPdfInfo(t, pdf)
  t.match(info, /Title:\s+Payment request CW-000001/)
  t.match(info, /Tagged:\s+yes/)
  t.match(info, /Pages:\s+1\n/)
  t.equal(await readQrCode(await renderPdf(t, pdf)), PAYLOAD)

  await change({ customerName: 'مثال '.repeat(20).trim(), status: 'pending' })
  t.equal((await fetch(`${url}${path}/payment-request.pdf`)).status, 200, 'without the name')
  await change({ status: 'paid' })
  const paid = await guest.get(`${path}/payment-request.pdf`)
  t.equal(paid.status, 303)
  t.equal(paid.headers.get('location'), path)
  const unknown = await fetch(`${url}/o/AAAAAAAAAAAAAAAAAAAAAA/payment-request.pdf`)
  t.equal(unknown.status, 404)
})

t.test('the email about the order contains the payment data', async (t) => {
  const { order, waitForMails } = await startMailService(t, ACCOUNT)
  await order()
  const { text, html } = await waitForMails(1)
  const read = toText({ status: 200, headers: new Headers(), text: html })
  for (const part of [text, read]) {
    t.match(
      part,
      /How to pay €53\.90:?\s+Account name: Harbour Example & Søn\s+IBAN: PT50 0002 0123 1234 5678 9015 4\s+BIC: CGDIPTPL\s+Due date: \d+ \w+ \d{4}\s+Payment reference: CW-000001/,
    )
  }
})
