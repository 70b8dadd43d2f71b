import { createServer } from 'node:http'
import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'
import { PORTFOLIOS } from '../../src/provider/fake-provider/portfolios.js'

// Baseline for the proxy: a minimal provider or, with UPSTREAM, the bare plugin before it.

const { PORT, UPSTREAM } = process.env

if (UPSTREAM === undefined) {
  const body = Buffer.from(JSON.stringify({ portfolios: PORTFOLIOS }))
  const head = { 'content-type': 'application/json', 'content-length': body.length }
  createServer((_request, response) => response.writeHead(200, head).end(body)).listen(
    Number(PORT),
    '127.0.0.1',
  )
} else {
  const app = Fastify()
  await app.register(httpProxy, {
    upstream: UPSTREAM,
    prefix: '/api/ordersource',
    disableRequestLogging: true,
  })
  await app.listen({ host: '127.0.0.1', port: Number(PORT) })
}
