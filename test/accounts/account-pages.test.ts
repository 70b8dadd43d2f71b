import t from 'tap'
import { startTwoAdmins } from '../support/page-client.js'
import { ADMIN, postLogin, verify } from '../support/sign-in.js'

const PATH = '/admin/account'

t.test('a user signs out other devices on the account page', async (t) => {
  const { ann, ben, url } = await startTwoAdmins(t)
  const phone = { 'user-agent': 'Evil/<b>1</b>' }
  const tokens: string[] = []
  for (let i = 0; i < 3; i++) tokens.push((await postLogin(url, ADMIN, phone)).body.token as string)
  const countActive = async () => {
    const responses = await Promise.all(tokens.map((token) => verify(url, token)))
    return responses.filter(({ status }) => status === 200).length
  }

  const page = (await ann.get(PATH)).text
  t.match(page, /<dt>Email<\/dt><dd><bdi>admin@example\.com/)
  t.match(page, /This device/)
  t.equal(page.split('<bdi>Evil</bdi>').length, 4)
  t.notMatch(page, /<b>1/)
  t.match(page, /href="\/admin\/account" aria-current="page"/)

  const end = /\/admin\/account\/sessions\/[\w-]+\/end(?!-)/.exec(page)?.[0] ?? ''
  t.equal((await ben.post(end, {})).status, 404, 'only their own')
  t.equal(await countActive(), 3)
  t.equal((await ann.post(end, {})).headers.get('location'), PATH)
  t.equal(await countActive(), 2)
  t.match((await ann.get(PATH)).text, /The device was signed out/)
  t.equal((await ann.post(end, {})).status, 404)

  t.equal((await ann.post(`${PATH}/sessions/end-others`, {})).status, 303)
  t.equal(await countActive(), 0)
  const after = (await ann.get(PATH)).text
  t.match(after, /All other devices were signed out/)
  t.notMatch(after, /Sign out all other devices/)
  t.equal((await ben.get(PATH)).status, 200, 'other accounts stay signed in')
})
