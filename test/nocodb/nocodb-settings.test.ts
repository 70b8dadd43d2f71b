import t from 'tap'
import { buildApp } from '../../src/app.js'
import { parseColumnTitles } from '../../src/nocodb/columns.js'

t.test('parses column titles and rejects invalid ones', async (t) => {
  t.match(parseColumnTitles('customerName=Customer, amountMinor = Total price'), {
    customerName: 'Customer',
    amountMinor: 'Total price',
    vesselName: 'VesselName',
  })
  for (const invalid of [
    'name=Customer',
    'customerName',
    'customerName=',
    'customerName=A=B',
    'customerName=A,customerName=B',
    'customerName=VesselName',
    'customerName=A,vesselName=a',
    'customerName=Id',
    'customerName=a)b',
    'customerName=a"b',
    'toString=a',
    ',',
  ]) {
    t.equal(parseColumnTitles(invalid), null, invalid)
  }
})

t.test('requires all NocoDB variables or none', async (t) => {
  const whole = {
    DATABASE_BASE_URL: 'https://nocodb.example.com/',
    DATABASE_BASE_ID: 'pabc',
    DATABASE_API_KEY: 'secret-key',
    DATABASE_ORDERS_TABLE_ID: 'mabc',
  }
  const getConfigError = async (environment: NodeJS.ProcessEnv): Promise<string> => {
    try {
      await (await buildApp({ environment: { LOG_LEVEL: 'silent', ...environment } })).close()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    return 'started'
  }
  for (const name of Object.keys(whole)) {
    const error = await getConfigError({ ...whole, [name]: ' ' })
    t.match(error, `${name} is required because other NocoDB variables are set`)
    t.equal(error.split('\n').length, 2, 'reports no other error')
    t.notMatch(error, 'secret-key')
  }
  const invalid = await getConfigError({
    DATABASE_BASE_URL: 'https://user:password@nocodb.example.com',
    DATABASE_BASE_ID: 'a/b',
    DATABASE_API_KEY: 'a b',
    DATABASE_ORDERS_TABLE_ID: '../x',
    NOCODB_COLUMNS: 'x=y',
    NOCODB_SYNC_INTERVAL: '0',
    NOCODB_REQUESTS_PER_SECOND: 'many',
  })
  for (const name of [...Object.keys(whole), 'NOCODB_COLUMNS', 'NOCODB_SYNC_INTERVAL']) {
    t.match(invalid, `  ${name} must be`)
  }
  t.match(invalid, 'NOCODB_REQUESTS_PER_SECOND must be')
  t.notMatch(invalid, /password/)
})
