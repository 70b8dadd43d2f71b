import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PNG } from 'pngjs'
import t from 'tap'
import { findConfigErrors } from '../../src/core/config/config-part.js'
import { createMailbox } from '../../src/demo/mailbox.js'
import { getMailSettings, mailConfig, parseMailAddress } from '../../src/mail/mail-config.js'
import { createSmtpDelivery } from '../../src/mail/smtp-delivery.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { createCertificate } from '../support/certificate.js'
import { createGuest, placeOrder, toText } from '../support/guest.js'
import { MAIL_FROM, skipPauses, startMailService } from '../support/mail-service.js'
import { RETIREMENT } from '../support/order-store.js'
import { HTMX_HEADERS, startTwoAdmins } from '../support/page-client.js'
import { ADMIN_ACCOUNTS } from '../support/sign-in.js'
import { createSmtpError, startSmtpServer, type ReceivedMail } from '../support/smtp-server.js'
import { getSessionId, sendWebhooks, startStripe } from '../support/stripe.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'

const NAME = 'Ann "Ann" <b>Example</b>, Ltd; Αργοναύτης'

/** The text of the HTML, as it is read. */
const readHtml = ({ html }: Pick<ReceivedMail, 'html'>) =>
  toText({ status: 200, headers: new Headers(), text: html })

const getLink = ({ text }: Pick<ReceivedMail, 'text'>) => /http\S+\/o\/[\w-]{22}/.exec(text)?.[0]

t.test('a guest gets an email for each step of an order', async (t) => {
  const { url, order, setStatus, waitForMails } = await startMailService(t, {
    PAYMENT_INSTRUCTIONS: 'Bank transfer to PT50 0002\\nor <cash> at the desk',
    BRAND_NAME: 'Harbour & Sons',
  })
  const guest = createGuest(url)
  const path = await order({ name: NAME, company: 'Example Ltd', vatId: 'PT123456789' })
  const received = await waitForMails(1)
  t.equal(received.headers.get('subject'), 'Order CW-000001 received')
  t.equal(received.headers.get('from'), MAIL_FROM)
  t.equal(received.headers.get('to'), 'ann@example.com')
  t.match(received.headers.get('message-id'), /^<mail_[0-9a-f]{32}@harbour\.example>$/)
  t.equal(received.headers.get('auto-submitted'), 'auto-generated')
  t.equal(received.from, 'offset@harbour.example')
  t.same(received.recipients, ['ann@example.com'])
  t.equal(getLink(received), url + path)
  t.equal((await guest.get(path)).status, 200)
  t.match(received.html, `<a href="${url}${path}"`)
  for (const text of [received.text, readHtml(received)]) {
    t.match(text, /How to pay €53\.90:?\s+Bank transfer to PT50 0002\s+or <cash> at the desk/)
    t.match(text, /Payment reference: CW-000001/)
    t.match(text, /Carbon credits for 2,000.kg of CO₂e:?\s+€49\.00/)
    t.match(text, /Service fee:?\s+€4\.90\s+Total:?\s+€53\.90/)
    t.match(text, /Price per tonne:?\s+€26\.95, including fees/)
    t.match(text, /Harbour & Sons/)
    t.notMatch(text, /Ann|Example Ltd|PT123456789/, 'nothing that the guest has typed')
  }
  t.notMatch(received.html, /<script|<link|src="(?!cid:)|<cash>/)
  t.match(received.html, /<img src="cid:picture" alt=""/)
  t.match(received.html, /<h1[^>]*>Thank you for your order<.*Order summary/s)
  const picture = received.parts.find(({ type }) => type === 'image/png')
  t.equal(picture?.headers.get('content-id'), '<picture>')
  t.ok(received.raw.length < 100_000, `${received.raw.length} bytes`)

  await setStatus('paid')
  const paid = await waitForMails(2)
  t.equal(paid.headers.get('subject'), 'Payment received for order CW-000001')
  t.equal(getLink(paid), url + path)
  for (const text of [paid.text, readHtml(paid)]) {
    t.match(text, /Thank you, Ann ?\.\s+We have received your payment of €53\.90\./)
    t.match(text, NAME)
    t.match(text, /VAT ID:?\s+PT123456789/)
    t.notMatch(text, /How to pay/)
  }
  t.notMatch(paid.html, '<b>')

  await setStatus('processing')
  await setStatus('refunded')
  const refunded = await waitForMails(3)
  t.equal(refunded.headers.get('subject'), 'Order CW-000001 was refunded')
  for (const text of [refunded.text, readHtml(refunded)]) {
    t.match(text, /We have refunded your payment of €53\.90/)
  }

  const other = await order({ email: 'ben@example.com', name: 'Ben' })
  await waitForMails(4)
  await guest.post(`${other}/cancel`, new URLSearchParams())
  const cancelled = await waitForMails(5)
  t.equal(cancelled.headers.get('subject'), 'Order CW-000002 was cancelled')
  t.match(cancelled.text, /^Your order is cancelled\n/)
  t.notMatch(cancelled.html, '<img')
  t.match(
    cancelled.text,
    /There is nothing to pay\. A payment that is already on its way will be refunded\./,
  )
  t.same(cancelled.recipients, ['ben@example.com'])
})

t.test('a German page and the email of its order wrote money in two ways', async (t) => {
  const { url, order, waitForMails } = await startMailService(t, { CURRENCY: 'USD' })
  const path = await order()
  const received = await waitForMails(1)
  const headers = { 'accept-language': 'de-DE' }
  const pages = await Promise.all(
    [path, '/offset?type=custom&amount=2&unit=t'].map(async (path) => {
      const response = await fetch(url + path, { headers })
      return response.text()
    }),
  )
  for (const text of [received.text, readHtml(received), ...pages]) {
    t.match(text, 'US$53.90')
    t.notMatch(text, /(?<!US)\$|53,90/)
  }
})

t.test('an order that is placed with the provider at once counts as paid', async (t) => {
  const { smtp, order, setStatus, waitForMails } = await startMailService(t)
  await order()
  await waitForMails(1)
  await setStatus('fulfilled')
  const payment = await waitForMails(2)
  t.equal(payment.headers.get('subject'), 'Payment received for order CW-000001')
  await sleep(700)
  t.equal(smtp.mails.length, 2, 'no certificate, because nothing was retired')
})

const findCertificateMail = (smtp: { mails: ReceivedMail[] }, id: number): ReceivedMail => {
  const subject = `Your certificate for order CW-00000${id}`
  const mail = smtp.mails.find(({ headers }) => headers.get('subject') === subject)
  if (mail === undefined) throw new Error('no email about the certificate')
  return mail
}

t.test('a certificate is announced once, with the logo of the operator', async (t) => {
  const BRAND_LOGO = join(temporaryFolder(t), 'logo.png')
  const logo = PNG.sync.write(new PNG({ width: 8, height: 8 }))
  writeFileSync(BRAND_LOGO, logo)
  const service = await startMailService(t, { BRAND_LOGO })
  const { ann, url, smtp, order, waitForMails } = service
  const path = await order()
  await waitForMails(1)
  await ann.call('PATCH', '/api/admin/orders/1', {
    status: 'fulfilled',
    retirement: { registry: 'Verra', reference: 'VCS-1', retiredAt: '2026-01-31' },
  })
  // The payment and the certificate
  await waitForMails(3)
  const mail = findCertificateMail(smtp, 1)
  t.match(mail.text, /Carbon credits for 2,000.kg of CO₂e have been retired for you\./)
  const pdf = `${url}${path}/certificate.pdf`
  t.match(mail.text, `Open certificate (PDF):\n${pdf}\n`)
  t.match(mail.html, new RegExp(`<a href="${pdf}"[^>]*>Open certificate \\(PDF\\)</a>`))
  t.equal((await fetch(pdf)).headers.get('content-type'), 'application/pdf')
  const [, page = ''] =
    /Link for sharing, which shows no names:\n(http\S+\/c\/\S+)/.exec(mail.text) ?? []
  t.equal((await fetch(page)).status, 200)
  t.match(readHtml(mail), `Link for sharing, which shows no names: ${page} `)
  t.match(mail.text, `Your order:\n${url}${path}\n`)
  t.match(mail.html, '<img src="cid:logo"')
  t.match(readHtml(mail), /Your certificate is ready, Ann ?\. .* Receipt/)
  const image = mail.parts.find(({ type }) => type === 'image/png')
  t.equal(image?.headers.get('content-id'), '<logo>')
  t.same(image?.content, logo)
  await sleep(700)
  await waitForMails(3)
})

t.test('an email opens the certificate’s page if it shows the name, or has no PDF', async (t) => {
  const { ann, url, smtp, order, waitForMails } = await startMailService(t)
  for (const [index, fields] of [{ isPublic: 'yes' }, { beneficiary: 'مثال' }].entries()) {
    const id = index + 1
    const path = await order({ ...fields, email: `guest${id}@example.com` })
    await waitForMails(3 * index + 1)
    const change = { status: 'fulfilled', retirement: RETIREMENT }
    await ann.call('PATCH', `/api/admin/orders/${id}`, change)
    await waitForMails(3 * id)
    const mail = findCertificateMail(smtp, id)
    const [, link = ''] = /View your certificate:\n(http\S+\/c\/\S+)/.exec(mail.text) ?? []
    t.equal((await fetch(link)).status, 200)
    t.match(mail.html, `<a href="${link}"`)
    t.match(mail.text, `Your order:\n${url}${path}\n`)
    for (const text of [mail.text, mail.html]) t.notMatch(text, /PDF|\.pdf|for sharing/)
  }
})

t.test('only guests get emails, one for each event', async (t) => {
  const { ann, app, order, smtp, getStates } = await startMailService(t)
  const created = await ann.call('POST', '/api/admin/orders', {
    customerName: 'Ben',
    customerEmail: 'ben@example.com',
    co2eKg: 1,
    amountMinor: 1,
    currency: 'EUR',
  })
  await ann.call('PATCH', `/api/admin/orders/${created.id}`, { status: 'paid' })
  await order()
  await ann.call('PATCH', '/api/admin/orders/2', { notes: 'Called back' })
  await waitForEqual(t, getStates, ['sent'])
  await waitForEqual(t, () => app.database.query('SELECT id FROM order_events'), [])
  t.equal(smtp.mails.length, 1)
})

t.test('an email has exactly one recipient', async (t) => {
  const { order, waitForMails, smtp } = await startMailService(t)
  const names = [
    'Ann <eve@example.com>, ben@example.com',
    '"Ann", "Ben" <ben@example.com>; Eve',
    '=?utf-8?q?Ann=0D=0ABcc:_eve@example.com?=',
    'Αργοναύτης 船 ⚓',
  ]
  for (const [index, name] of names.entries()) {
    await order({ name, email: `guest${index}@example.com` })
    const { recipients, headers } = await waitForMails(index + 1)
    t.same(recipients, [`guest${index}@example.com`])
    t.equal(headers.get('to'), `guest${index}@example.com`)
    t.notOk(headers.has('bcc') || headers.has('cc'))
  }
  await order({ email: 'jörg@bücher.example' })
  t.same((await waitForMails(names.length + 1)).recipients, ['jörg@bücher.example'])
  for (const email of [
    'ann@example.com,eve@example.com',
    'ann@example.com\r\nBcc: eve@example.com',
    'Ann <ann@example.com>',
    'ann@example.com> SIZE=1\r\nRCPT TO:<eve@example.com',
    '"ann@example.com eve"@example.com',
  ]) {
    await t.rejects(order({ email }), { message: /not placed: 200/ }, email)
  }
  await t.rejects(order({ name: 'Ann\r\nBcc: eve@example.com' }), { message: /not placed: 200/ })
  await sleep(700)
  t.equal(smtp.mails.length, names.length + 1)
})

t.test('an email is sent again until the server takes it', async (t) => {
  const { app, order, smtp, getStates, ann, url, log } = await startMailService(t)
  smtp.rejectRecipient = () => createSmtpError(451, '4.7.1 Greylisted, try again later')
  await order()
  await waitFor(async () => smtp.attempts.length === 1)
  smtp.rejectRecipient = () => null
  smtp.rejectData = () => createSmtpError(452, 'Insufficient system storage')
  await waitFor(async () => {
    await skipPauses(app)
    return smtp.attempts.length >= 2
  })
  const waiting = await waitFor(async () => {
    const { text } = await ann.get('/admin/orders/1')
    return text.includes('Insufficient') && text
  })
  t.match(
    readHtml({ html: waiting }),
    /Waiting Order received ann@example\.com .* Next attempt .* Attempt 1 451 .* To ann@example\.com: 451 4\.7\.1 Greylisted/,
  )
  t.match(waiting, /<button[^>]*>Send now/)

  // The server is away for a while.
  const { port } = smtp
  await smtp.stop()
  for (let attempts = 3; attempts <= 7; attempts++) {
    await waitFor(async () => {
      await skipPauses(app)
      const [row] = await app.database.query<{ attempts: number }>(
        "SELECT attempts FROM outbox WHERE queue = 'mail'",
      )
      return (row?.attempts ?? 0) >= attempts
    })
  }
  t.same(await getStates(), ['pending'])
  t.match((await ann.get('/admin/orders/1')).text, /ECONNREFUSED/)
  t.match((await ann.get('/admin/settings/email?state=failing')).text, /ECONNREFUSED/)
  t.match((await ann.get('/admin/settings/email?state=failed')).text, /No email has failed\./)
  const readiness = await fetch(`${url}/readyz`)
  t.equal(readiness.status, 200, 'the service stays in rotation')
  t.match(await readiness.json(), {
    status: 'degraded',
    checks: { mail: { ready: true, degraded: true, detail: 'emails cannot be sent' } },
  })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.match(metrics, /clearwake_message_attempts_total\{queue="mail",outcome="retry"\} \d/)
  const countLogged = (text: string) => log.filter(({ msg }) => msg === text).length
  t.equal(countLogged('emails cannot be sent'), 1, 'an outage is logged once')
  const restarted = await startSmtpServer(t, { port })
  await skipPauses(app)
  await waitFor(async () => restarted.mails.length === 1)
  await waitForEqual(t, getStates, ['sent'])
  t.same(restarted.mails[0]?.recipients, ['ann@example.com'])
  t.equal(smtp.mails.length, 0)
  t.equal(countLogged('emails can be sent again'), 1)
  t.match(await (await fetch(`${url}/readyz`)).json(), { status: 'ready' })
})

t.test('a refused recipient is final until somebody sends the email again', async (t) => {
  const { app, order, smtp, getStates, setStatus, waitForMails, ann } = await startMailService(t)
  smtp.rejectRecipient = (address) =>
    address === 'typo@example.com' ? createSmtpError(550, '5.1.1 No such <user>') : null
  await order({ email: 'typo@example.com' })
  await waitForEqual(t, getStates, ['failed'])
  await skipPauses(app)
  await setStatus('paid')
  await waitForEqual(t, getStates, ['failed', 'failed'], 'later emails do not wait for it')
  t.equal(smtp.attempts.length, 2)
  t.match(toText(await ann.get('/admin')), /Emails were not delivered 2 in the last 7 days/)
  const list = await ann.get('/admin/settings/email?state=failed')
  t.match(list.text, /127\.0\.0\.1:\d+/)
  t.match(list.text, /5\.1\.1 No such &lt;user&gt;/)

  await ann.call('PATCH', '/api/admin/orders/1', { customerEmail: 'ann@example.com' })
  const { text } = await ann.get('/admin/orders/1')
  const [, action = ''] =
    [...text.matchAll(/action="(\/admin\/orders\/1\/mails\/\w+\/send)"/g)].at(-1) ?? []
  const response = await ann.post(action, {})
  t.equal(response.headers.get('location'), '/admin/orders/1')
  t.match(
    (await ann.get('/admin/orders/1')).text,
    /The email about order CW-000001 is being sent\./,
  )
  const first = await waitForMails(1)
  t.same(first.recipients, ['ann@example.com'])
  t.equal(first.headers.get('subject'), 'Order CW-000001 received')
  t.notMatch(first.text, /How to pay/, 'it is paid by now')
  await waitForEqual(t, getStates, ['sent', 'failed'])

  await ann.post(action, {})
  const again = await waitForMails(2)
  t.not(again.headers.get('message-id'), first.headers.get('message-id'), 'is a new email')
  const log = await ann.get('/admin/orders/1/mails', HTMX_HEADERS)
  t.match(log.text, /^<section class="card" id="mails"/)
  t.match(log.text, /To typo@example\.com: 550.*To ann@example\.com: 250/s)
  t.equal((await ann.get('/admin/orders/1/mails')).headers.get('location'), '/admin/orders/1')
  t.equal((await ann.post('/admin/orders/1/mails/mail_x/send', {})).status, 404)
  t.equal((await ann.post(action.replace('/1/', '/2/'), {})).status, 404)
})

t.test('what is not true any more is not sent', async (t) => {
  const { app, order, smtp, getStates, setStatus, ann } = await startMailService(t)
  await order()
  await waitForEqual(t, getStates, ['sent'])
  smtp.rejectRecipient = () => createSmtpError(450, 'later')
  await setStatus('paid')
  await waitFor(async () => smtp.attempts.length === 2)
  const { version } = await ann.call('GET', '/api/admin/orders/1')
  await ann.post('/admin/orders/1/restore', { version: String(version) })
  t.equal((await ann.call('GET', '/api/admin/orders/1')).status, 'pending')
  smtp.rejectRecipient = () => null
  await skipPauses(app)
  await waitForEqual(t, getStates, ['sent', 'cancelled'])
  t.equal(smtp.mails.length, 1)
  t.match((await ann.get('/admin/orders/1')).text, /Not sent, because the order is now pending/)
})

const HOLD = { MAIL_HOLD_SECONDS: '60' }
const pause = () => sleep(1_500)

t.test('a guest was told at once what staff undid a moment later', async (t) => {
  const { ann, order, setStatus, waitForMails, getStates, app, smtp } = await startMailService(
    t,
    HOLD,
  )
  await order()
  await waitForMails(1)
  await setStatus('paid')
  await waitForEqual(t, getStates, ['sent', 'pending'])
  const [held] = await app.database.query<{ wait: number }>(
    "SELECT next_attempt_at - created_at AS wait FROM outbox WHERE type = 'payment_received'",
  )
  t.ok(Math.abs((held?.wait ?? 0) - 60_000) < 5_000, 'it waits 60 s')
  const page = await ann.get('/admin/orders/1')
  t.match(toText(page), /Waiting until \d+:\d\d:\d\d.* Payment received/)
  t.match(toText(page), /If it no longer applies by then, it is not sent/)
  await pause()
  t.equal(smtp.mails.length, 1)

  await ann.post('/admin/orders/1/restore', { version: '2' })
  await skipPauses(app)
  await waitForEqual(t, getStates, ['sent', 'cancelled'])
  t.match(toText(await ann.get('/admin/orders/1')), /Not sent, because the order is now pending/)

  await ann.call('DELETE', '/api/admin/orders/1')
  await waitForEqual(t, getStates, ['sent', 'cancelled', 'pending'])
  await ann.post('/admin/orders/1/restore', { version: '4' })
  await skipPauses(app)
  await waitForEqual(t, getStates, ['sent', 'cancelled', 'cancelled'])
  t.equal(smtp.mails.length, 1)

  await setStatus('paid')
  await waitForEqual(t, async () => (await getStates()).at(-1), 'pending')
  await skipPauses(app)
  t.match((await waitForMails(2)).headers.get('subject'), /Payment received/)
})

t.test('undone and done again within the pause, two emails said the same', async (t) => {
  const { ann, order, setStatus, waitForMails, getStates, app } = await startMailService(t, HOLD)
  await order()
  await waitForMails(1)
  await setStatus('paid')
  await waitForEqual(t, getStates, ['sent', 'pending'])
  await ann.post('/admin/orders/1/restore', { version: '2' })
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'fulfilled', retirement: RETIREMENT })
  await waitForEqual(t, async () => (await getStates()).slice(0, 3), [
    'sent',
    'cancelled',
    'pending',
  ])
  t.match(toText(await ann.get('/admin/orders/1')), /a later message replaced it/)
  await waitForEqual(t, getStates, ['sent', 'cancelled', 'pending', 'pending'])
  await skipPauses(app)
  await waitForMails(2)
  await skipPauses(app)
  t.match((await waitForMails(3)).headers.get('subject'), /certificate/, 'held, too')
  await waitForEqual(t, getStates, ['sent', 'cancelled', 'sent', 'sent'])
})

t.test('a restored order was announced as paid a second time', async (t) => {
  const { ann, order, setStatus, waitForMails, getStates } = await startMailService(t)
  await order()
  await waitForMails(1)
  await setStatus('paid')
  await waitForMails(2)
  await ann.call('DELETE', '/api/admin/orders/1')
  await waitForMails(3)
  await ann.post('/admin/orders/1/restore', { version: '3' })
  await pause()
  t.equal((await ann.call('GET', '/api/admin/orders/1')).status, 'paid')
  await waitForEqual(t, getStates, ['sent', 'sent', 'sent'])
})

t.test('an undone fulfilment was announced with a certificate', async (t) => {
  const { ann, order, waitForMails, getStates, app } = await startMailService(t, HOLD)
  await order()
  await waitForMails(1)
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid', retirement: RETIREMENT })
  await waitForEqual(t, getStates, ['sent', 'pending', 'pending'])
  await ann.call('PATCH', '/api/admin/orders/1', { retirement: null })
  await skipPauses(app)
  t.match((await waitForMails(2)).headers.get('subject'), /Payment received/)
  await skipPauses(app)
  await waitForEqual(t, getStates, ['sent', 'sent', 'cancelled'])
  t.match(toText(await ann.get('/admin/orders/1')), /because there is no valid certificate/)
})

t.test('a refunded guest was told so again when staff cancelled and restored', async (t) => {
  const { ann, order, setStatus, waitForMails, getStates } = await startMailService(t)
  await order()
  await setStatus('paid')
  await setStatus('refunded')
  await waitForMails(3)
  t.notMatch(toText(await ann.get('/admin/orders/1/cancel')), /This emails/)
  await ann.call('DELETE', '/api/admin/orders/1')
  await ann.post('/admin/orders/1/restore', { version: '4' })
  t.equal((await ann.call('GET', '/api/admin/orders/1')).status, 'refunded')
  await pause()
  await waitForEqual(t, getStates, ['sent', 'sent', 'sent'])
})

t.test('an email went to an address that was corrected before', async (t) => {
  const { ann, order, setStatus, waitForMails, getStates, app } = await startMailService(t, HOLD)
  await order({ email: 'wrong@example.com' })
  await waitForMails(1)
  await setStatus('paid')
  await waitForEqual(t, getStates, ['sent', 'pending'])
  await ann.call('PATCH', '/api/admin/orders/1', { customerEmail: 'right@example.com' })
  await skipPauses(app)
  await waitForEqual(t, getStates, ['sent', 'cancelled'])
  const page = await ann.get('/admin/orders/1')
  t.match(toText(page), /because the address of the order was changed/)
  const [, again] = /action="([^"]*mails[^"]*)"/.exec(page.text) ?? []
  await ann.post(again ?? '', {})
  t.same((await waitForMails(2)).recipients, ['right@example.com'])
})

t.test('a guest was told of a refund that had not been made', async (t) => {
  const { stripe, environment } = await startStripe(t)
  const service = await startMailService(t, environment)
  const { ann, url, order, setStatus, waitForMails, getStates } = service
  sendWebhooks(stripe, url)
  stripe.ledger.pay(getSessionId(await order()))
  await waitForMails(1)
  await setStatus('refunded')
  await waitForEqual(t, getStates, ['cancelled', 'sent', 'cancelled'])
  t.match(toText(await ann.get('/admin/orders/1')), /because Stripe has not returned the money/)
})

t.test('emails about a payment and about the guest’s own order do not wait', async (t) => {
  const { stripe, environment } = await startStripe(t)
  const service = await startMailService(t, { ...HOLD, ...environment })
  const { ann, app, url, order, setStatus, waitForMails, getStates } = service
  sendWebhooks(stripe, url)
  await order()
  await waitForEqual(t, getStates, ['pending'])
  await skipPauses(app)
  const path = getLink(await waitForMails(1))?.slice(url.length) ?? ''
  // Staff cancel and mark as paid by mistake, then the guest pays.
  await ann.call('DELETE', '/api/admin/orders/1')
  await ann.post('/admin/orders/1/restore', { version: '2' })
  await setStatus('paid')
  await ann.post('/admin/orders/1/restore', { version: '4' })
  const guest = createGuest(url)
  const paying = await guest.post(`${path}/pay`, new URLSearchParams())
  stripe.ledger.pay(getSessionId(paying.headers.get('location')))
  t.match((await waitForMails(2)).headers.get('subject'), /Payment received/)
  stripe.ledger.refund(stripe.ledger.intents[0]?.id ?? '', null)
  t.match((await waitForMails(3)).headers.get('subject'), /was refunded/)

  const other = stripe.ledger.getSession(getSessionId(await order({ email: 'ben@example.com' })))
  await guest.post(`${new URL(other.cancel_url).pathname}/cancel`, new URLSearchParams())
  t.match((await waitForMails(4)).headers.get('subject'), /CW-000002 was cancelled/)
})

t.test('a guest who paid through Stripe at once got an email about the order, too', async (t) => {
  const { stripe, environment } = await startStripe(t)
  const service = await startMailService(t, { ...HOLD, ...environment })
  const { ann, app, url, smtp, order, waitForMails, getStates } = service
  sendWebhooks(stripe, url)
  const session = getSessionId(await order())
  await waitForEqual(t, getStates, ['pending'])
  const [waiting] = await app.database.query<{ wait: number }>(
    "SELECT next_attempt_at - created_at AS wait FROM outbox WHERE type = 'order_received'",
  )
  t.ok(Math.abs((waiting?.wait ?? 0) - 900_000) < 5_000, 'it waits 15 minutes')
  t.match(
    toText(await ann.get('/admin/orders/1')),
    /Waiting until .* Order received .* If it no longer applies by then, it is not sent/,
  )
  stripe.ledger.pay(session)
  t.match((await waitForMails(1)).headers.get('subject'), /Payment received/)
  await waitForEqual(t, getStates, ['cancelled', 'sent'])
  // It is not resumed with the order.
  await ann.call('DELETE', '/api/admin/orders/1')
  await waitForEqual(t, getStates, ['cancelled', 'sent', 'pending'])
  await ann.post('/admin/orders/1/restore', { version: '3' })
  t.equal((await ann.call('GET', '/api/admin/orders/1')).status, 'paid')
  await skipPauses(app)
  await waitForEqual(t, getStates, ['cancelled', 'sent', 'cancelled'])

  await order({ email: 'ben@example.com' })
  await waitForEqual(t, async () => (await getStates()).at(-1), 'pending')
  await skipPauses(app)
  const unpaid = await waitForMails(2)
  t.equal(unpaid.headers.get('subject'), 'Order CW-000002 received')
  t.match(unpaid.text, /View your order and pay:\nhttp/)

  // Staff mark an order as paid by mistake.
  await order({ email: 'cleo@example.com' })
  await waitForEqual(t, async () => (await getStates()).slice(4), ['pending'])
  await ann.call('PATCH', '/api/admin/orders/3', { status: 'paid' })
  await waitForEqual(
    t,
    async () => (await getStates()).slice(4),
    ['cancelled', 'pending'],
    'the email about the payment does not wait for the one about the order',
  )
  await ann.post('/admin/orders/3/restore', { version: '2' })
  await waitForEqual(t, async () => (await getStates())[4], 'pending')
  await skipPauses(app)
  t.equal((await waitForMails(3)).headers.get('subject'), 'Order CW-000003 received')
  await waitForEqual(t, async () => (await getStates()).slice(4), ['sent', 'cancelled'])
  t.equal(smtp.mails.length, 3)
})

t.test('staff did not see whom a change emails, and what it leaves unpaid', async (t) => {
  const { ann, order, setStatus } = await startMailService(t, HOLD)
  const once = 'The email is sent after 60 seconds; undo before then and it is not sent.'
  const both = 'Emails are sent after 60 seconds; undo before then and they are not sent.'
  await order()
  const unretired = toText(await ann.get('/admin/orders/1'))
  t.match(unretired, `Mark as fulfilled… This emails the guest “Payment received”. ${once}`)
  await ann.call('PATCH', '/api/admin/orders/1', { retirement: RETIREMENT })
  t.match(
    toText(await ann.get('/admin/orders/1')),
    `Mark as fulfilled… This emails the guest “Payment received” and “Certificate ready” and publishes the certificate. ${both}`,
  )
  t.match(
    toText(await ann.get('/admin/orders/1/cancel')),
    `You can undo this. This emails the guest “Order cancelled”. ${once}`,
  )
  await setStatus('fulfilled')
  for (const headers of [{}, HTMX_HEADERS]) {
    t.match(
      toText(await ann.get('/admin/orders/1/cancel', headers)),
      `This emails the guest “Order cancelled”, withdraws the certificate, and leaves €53.90 paid and not refunded. ${once}`,
    )
  }
  t.match(
    toText(await ann.get('/admin/orders/1')),
    `Mark as refunded… This emails the guest “Order refunded” and withdraws the certificate. ${once}`,
  )
})

t.test('an order that does not exist any more gets no email', async (t) => {
  const { app, order, smtp, getStates } = await startMailService(t)
  smtp.rejectRecipient = () => createSmtpError(450, 'later')
  await order()
  await waitFor(async () => smtp.attempts.length === 1)
  // As after restoring an older database, which has another order with this ID.
  await app.database.query('UPDATE orders SET created_at = created_at - 1000')
  smtp.rejectRecipient = () => null
  await waitFor(async () => {
    await skipPauses(app)
    return (await getStates())[0] === 'failed'
  })
  t.equal(smtp.mails.length, 0)
})

t.test(
  'TLS is required, the certificate is checked, and the password is not disclosed',
  async (t) => {
    const password = 'secret-of-the-mail-server'
    const mail = { id: 'mail_1', to: 'ann@example.com', subject: 'S', text: 'T', html: 'H' }
    const { signal } = new AbortController()
    const send = (url: string, encryption?: 'starttls') => {
      const settings = getMailSettings({ SMTP_URL: url, MAIL_FROM, BRAND_NAME: 'Clearwake' })
      if (settings === null) throw new Error('invalid settings')
      if (encryption) settings.server.encryption = encryption
      return createSmtpDelivery(settings, null).send(mail, signal)
    }
    const certificate = createCertificate()
    const untrusted = { ...certificate, authOptional: false }
    const plain = await startSmtpServer(t)
    const upgraded = await startSmtpServer(t, { ...untrusted, disabledCommands: [] })
    const encrypted = await startSmtpServer(t, { ...untrusted, secure: true, disabledCommands: [] })
    const sendTo = (protocol: string, { port }: { port: number }, encryption?: 'starttls') =>
      send(`${protocol}://u:${password}@127.0.0.1:${port}`, encryption)
    for (const [name, server, result] of [
      ['no STARTTLS', plain, await sendTo('smtp', plain, 'starttls')],
      ['STARTTLS', upgraded, await sendTo('smtp', upgraded, 'starttls')],
      ['TLS', encrypted, await sendTo('smtps', encrypted)],
    ] as const) {
      t.equal(result.outcome, 'retry', `${name}: ${result.detail}`)
      t.same([server.mails, server.passwords], [[], []], name)
    }

    const closed = await startSmtpServer(t, {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (auth, _session, done) =>
        done(createSmtpError(535, `Wrong password ${String(auth.password)}`)),
    })
    const failed = await sendTo('smtp', closed)
    t.same(failed, {
      outcome: 'retry',
      isOutage: true,
      status: 535,
      detail: 'The mail server did not accept the user name and password.',
    })
    const silent = await startSmtpServer(t, { onConnect: () => undefined })
    const stopping = new AbortController()
    const waiting = createSmtpDelivery(
      {
        server: { host: '127.0.0.1', port: silent.port, encryption: 'none', credentials: null },
        from: { name: 'A', address: 'a@example.com' },
      },
      null,
    ).send(mail, stopping.signal)
    stopping.abort()
    t.match(await waiting, { outcome: 'retry' })
  },
)

t.test(
  'without a mail server nothing is queued or announced, and the portal says so',
  async (t) => {
    const environment = { CURRENCY: 'EUR', PRICE_PER_TONNE: '24.50' }
    const { app, ann, url } = await startTwoAdmins(t, environment)
    await placeOrder(createGuest(url))
    await sleep(700)
    t.same(await app.database.query('SELECT * FROM outbox'), [])
    const order = await ann.get('/admin/orders/1')
    t.match(order.text, /no mail server is configured/)
    t.notMatch(toText(order), /emails the guest/)
    t.match((await ann.get('/admin/settings/email')).text, /Emails are not sent.*SMTP_URL/s)
    t.equal((await ann.post('/admin/orders/1/mails/mail_x/send', {})).status, 409)
    t.notMatch(toText(await ann.get('/admin/orders/1/cancel')), /This /)
    await ann.call('PATCH', '/api/admin/orders/1', { status: 'fulfilled', retirement: RETIREMENT })
    t.match(
      toText(await ann.get('/admin/orders/1/cancel')),
      'This withdraws the certificate and leaves €49.00 paid and not refunded. ',
    )
  },
)

t.test('the demo shows emails instead of sending them', async (t) => {
  const mailbox = createMailbox()
  const { url } = await startApp(
    t,
    { ADMIN_ACCOUNTS, PRICE_PER_TONNE: '24.50' },
    { mailDelivery: mailbox.delivery, pages: mailbox.pages },
  )
  const guest = createGuest(url)
  t.match((await guest.get('/demo/mail')).text, /No emails yet/)
  await placeOrder(guest)
  const list = await waitFor(async () => {
    const page = await guest.get('/demo/mail')
    return page.text.includes('Order CW-000001 received') && page
  })
  const [path = ''] = /\/demo\/mail\/mail_\w+/.exec(list.text) ?? []
  t.match(await guest.get(path), { status: 200, text: /Thank you for your order/ })
  const html = await guest.get(`${path}/html`)
  t.match(html.text, /<h1[^>]*>Thank you for your order/)
  t.match(html.headers.get('content-security-policy'), /^default-src 'none'; style-src/)
  t.equal((await guest.get('/demo/mail/other')).status, 404)
})

t.test('the configuration is checked', async (t) => {
  const valid = {
    SMTP_URL: 'smtps://user:p%40ss%2F@smtp.example.com',
    MAIL_FROM,
    PUBLIC_BASE_URL: 'https://carbon.example.com',
  }
  const find = (changes: NodeJS.ProcessEnv) =>
    findConfigErrors(mailConfig, { ...valid, ...changes })
  t.same(find({}), [])
  t.same(findConfigErrors(mailConfig, {}), [])
  t.match(getMailSettings({ ...valid, BRAND_NAME: 'Clearwake' }), {
    server: {
      host: 'smtp.example.com',
      port: 465,
      encryption: 'tls',
      credentials: { user: 'user', pass: 'p@ss/' },
    },
    from: { name: 'Harbour Example', address: 'offset@harbour.example' },
  })
  for (const [url, encryption] of [
    ['smtp://smtp.example.com', 'starttls'],
    ['smtp://[::1]:25', 'none'],
    ['smtp://LOCALHOST', 'none'],
  ] as const) {
    const settings = getMailSettings({ SMTP_URL: url, MAIL_FROM, BRAND_NAME: 'Clearwake' })
    t.equal(settings?.server.encryption, encryption, url)
  }
  for (const url of [
    'https://smtp.example.com',
    'smtp.example.com',
    'smtp://',
    'smtp://user@smtp.example.com',
    'smtp://user:%zz@smtp.example.com',
    'smtp://smtp.example.com/?tls=false',
    'smtp://smtp.example.com/x',
  ]) {
    t.match(find({ SMTP_URL: url }), [/^SMTP_URL must be/], url)
  }
  t.match(find({ MAIL_FROM: 'nobody' }), [/^MAIL_FROM must be/])
  t.match(find({ MAIL_FROM: undefined }), ['MAIL_FROM is required with SMTP_URL'])
  t.match(find({ SMTP_URL: undefined }), ['SMTP_URL is required with MAIL_FROM'])
  t.match(find({ PUBLIC_BASE_URL: undefined }), [/^PUBLIC_BASE_URL is required/])
  t.same(parseMailAddress('a@example.com'), { name: '', address: 'a@example.com' })
  t.same(parseMailAddress('"A, B" <a@example.com>'), { name: 'A, B', address: 'a@example.com' })
  t.equal(parseMailAddress('A <a@example.com>, b@example.com'), null)
})
