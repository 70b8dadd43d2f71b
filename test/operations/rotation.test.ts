import { join } from 'node:path'
import t from 'tap'
import { postJson, startApp, temporaryFolder } from '../support/app.js'
import { ADMIN_ACCOUNTS, signIn, verify } from '../support/sign-in.js'
import { TRIPS } from '../support/trips.js'

const OLD = 'the secret of before, of more than 32 bytes'
const NEW = 'the secret from now on, of more than 32 bytes'

t.test(
  'a new secret ends sessions; codes printed before stay valid with the previous secret',
  async (t) => {
    const settings = { DATA_DIR: join(temporaryFolder(t), 'data'), ADMIN_ACCOUNTS }
    const opens = async (url: string, printed: string): Promise<boolean> => {
      const { pathname, search } = new URL(printed)
      return (await (await fetch(url + pathname + search)).text()).includes('id="trip"')
    }
    const codeOf = async (url: string): Promise<string> =>
      (await postJson(`${url}/api/qr-code/generate`, TRIPS[0])).body.url

    const before = await startApp(t, { ...settings, SESSION_SECRET: OLD })
    const printed = await codeOf(before.url)
    const token = await signIn(before.url)
    t.ok(await opens(before.url, printed))
    t.equal((await verify(before.url, token)).status, 200)
    await before.app.close()

    const both = { ...settings, SESSION_SECRET: NEW, SESSION_SECRET_PREVIOUS: OLD }
    const between = await startApp(t, both)
    t.ok(await opens(between.url, printed))
    t.equal((await verify(between.url, token)).status, 401)
    const later = await codeOf(between.url)
    await between.app.close()

    const after = await startApp(t, { ...settings, SESSION_SECRET: NEW })
    t.notOk(await opens(after.url, printed), 'without the previous secret, it is rejected')
    t.ok(await opens(after.url, later))
  },
)
