import { createServer } from 'node:http'
import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'
import { PORTFOLIOS } from '../../src/demo/fake-provider/portfolios.js'

// The baselines for the proxy: the bare proxy plugin if UPSTREAM is set, else a minimal provider.

const { PORT, UPSTREAM } = process.env

if (UPSTREAM === undefined) {
  const body = Buffer.from(JSON.stringify({ portfolios: PORTFOLIOS }))
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  createServer((_request, response) => response.writeHead(200, headers).end(body)).listen(
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
