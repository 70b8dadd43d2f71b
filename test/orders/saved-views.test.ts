import t from 'tap'
import { startTwoAdmins } from '../support/page-client.js'

const VIEWS = '/admin/orders/views'

t.test('saves the filters of a list for all administrators, without scripts', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  const list = '/admin/orders?q=ann&status=paid&status=pending&page=7'
  const saved = await ann.post(VIEWS, { name: 'Ann’s orders', list })
  t.equal(saved.status, 303)
  t.equal(saved.headers.get('location'), list, 'returns to the list')
  t.match((await ann.get(list)).text, /The view was saved/)
  const { text } = await ben.get('/admin/orders')
  const href = '/admin/orders?q=ann&amp;status=paid&amp;status=pending'
  t.ok(text.includes(`<a href="${href}"`), 'opens the first page')

  const again = async (name: string) => {
    await ben.post(VIEWS, { name, list: '/admin/orders?currency=EUR' })
    return (await ben.get('/admin/orders')).text
  }
  t.match(await again('Ann’s orders'), /A view with this name already exists/)
  t.match(await again(''), /Enter a name of up to 60 characters/)
  t.match(await again('x'.repeat(61)), /Enter a name of up to 60 characters/)

  await ben.post(`${VIEWS}/remove`, { name: 'Ann’s orders', list: 'https://example.com/' })
  t.notMatch((await ann.get('/admin/orders')).text, /Ann’s orders/)
})

t.test('a parameter named like a built-in property is dropped', async (t) => {
  const { ann } = await startTwoAdmins(t)
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const list = `/admin/orders?${name}=1&currency=EUR`
    t.equal((await ann.post(VIEWS, { name, list })).status, 303, name)
  }
  const { text } = await ann.get('/admin/orders')
  t.equal(text.split('href="/admin/orders?currency=EUR"').length - 1, 3)
})

t.test('keeps at most 50 views, and drops invalid parameters', async (t) => {
  const { ann } = await startTwoAdmins(t)
  for (let i = 1; i <= 51; i++) {
    const list = `/admin/orders?status=nonsense&currency=EUR&x=${i}`
    await ann.post(VIEWS, { name: `View ${i}`, list })
  }
  const { text } = await ann.get('/admin/orders')
  t.match(text, /You can save up to 50 views/)
  t.notMatch(text, /nonsense/)
  t.equal(text.split('href="/admin/orders?currency=EUR"').length - 1, 50)
})
