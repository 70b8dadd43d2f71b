import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import accepts from '@fastify/accepts'
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import env from '@fastify/env'
import formbody from '@fastify/formbody'
import jwt from '@fastify/jwt'
import rateLimit from '@fastify/rate-limit'
import fastifyStatic from '@fastify/static'
import swagger from '@fastify/swagger'
import view from '@fastify/view'
import httpProxy from '@fastify/http-proxy'
import Database from 'better-sqlite3'
import closeWithGrace from 'close-with-grace'
import { Eta } from 'eta'
import Fastify from 'fastify'
import '@node-rs/argon2'
import '@sinclair/typebox'
import '@sinclair/typebox/compiler'
import 'nodemailer'
import 'otpauth'
import 'pg'
import { collectDefaultMetrics } from 'prom-client'
import 'qrcode'
import 'temporal-polyfill'
import { projectRoot } from '../../src/core/config/config-part.js'

// The baseline for startup time and memory: the plugins and libraries that Clearwake loads at
// startup, and nothing else.

const { PORT, DATA_DIR = '' } = process.env
const templates = join(projectRoot, 'templates')

const app = Fastify({ logger: true })
await app.register(env, { schema: { type: 'object', properties: {} } })
await app.register(accepts)
await app.register(cookie)
await app.register(jwt, { secret: 'a benchmark secret of at least 32 bytes' })
await app.register(formbody)
await app.register(compress)
await app.register(rateLimit, { max: 6_000 })
await app.register(swagger, { openapi: {} })
await app.register(view, { engine: { eta: new Eta({ views: templates, cache: true }) }, templates })
await app.register(fastifyStatic, { root: join(projectRoot, 'static'), prefix: '/assets/' })
await app.register(httpProxy, { upstream: 'http://127.0.0.1:9', prefix: '/api/ordersource' })
collectDefaultMetrics()

mkdirSync(DATA_DIR, { recursive: true })
const db = new Database(join(DATA_DIR, 'bare.db'))
db.pragma('journal_mode = WAL')
db.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, text TEXT)')

app.get('/healthz', async () => ({ status: 'alive' }))
closeWithGrace({}, () => app.close())
await app.listen({ host: '127.0.0.1', port: Number(PORT) })
