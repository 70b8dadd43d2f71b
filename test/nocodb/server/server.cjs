'use strict'
// Starts NocoDB on a loopback port, in the folder that holds its package.
const { createRequire } = require('node:module')
const { join } = require('node:path')

const fromTools = createRequire(join(process.env.TOOLS, 'package.json'))
const express = fromTools('express')
const cors = fromTools('cors')
const { Noco } = fromTools('nocodb')

const app = express()
app.disable('x-powered-by')
app.use(cors({ exposedHeaders: 'xc-db-response' }))
const server = app.listen(Number(process.env.PORT), '127.0.0.1', async () => {
  app.use(await Noco.init({}, server, app))
  console.log('NOCODB_READY')
})
