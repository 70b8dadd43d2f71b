import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { toContactUrl } from '../config/core-config.js'
import { timingSafeEqualText } from '../config/secrets.js'
import { isLoopback } from '../http/client-address.js'
import { Problem } from '../http/problem.js'
import { DAY_MS, toIsoTime } from '../time.js'
import type { Readiness, ReadinessCheck } from './telemetry.js'

/** RFC 9116 recommends less than a year. */
const SECURITY_TXT_EXPIRES_MS = 180 * DAY_MS

/** Routes about the service: health, readiness and metrics, and where to report vulnerabilities. */
export default fp(
  async (app) => {
    const options = { config: { rateLimit: false, bypassLoadShedding: true } } as const

    app.get('/healthz', options, async () => ({ status: 'alive' }))

    app.get('/readyz', options, async (_request, reply) => {
      const checks = await Promise.all(
        [...app.readiness].map(async ([name, check]) => [name, await runCheck(check)] as const),
      )
      const ready = checks.every(([, state]) => state.ready)
      const isDegraded = checks.some(([, { degraded }]) => degraded)
      const status = !ready ? 'not ready' : isDegraded ? 'degraded' : 'ready'
      return reply.code(ready ? 200 : 503).send({ status, checks: Object.fromEntries(checks) })
    })

    app.get('/metrics', options, async (request, reply) => {
      const { METRICS_TOKEN } = app.config
      if (METRICS_TOKEN === undefined) {
        if (!isLocalRequest(request)) {
          throw new Problem(
            403,
            'Metrics are only available from this machine unless METRICS_TOKEN is set.',
          )
        }
      } else if (!timingSafeEqualText(getBearerToken(request) ?? '', METRICS_TOKEN)) {
        throw new Problem(401, 'The metrics require a bearer token.', {
          headers: { 'www-authenticate': 'Bearer' },
        })
      }
      return reply.type(app.metrics.contentType).send(await app.metrics.metrics())
    })

    // RFC 9116
    const { SECURITY_CONTACT: contact } = app.config
    app.get('/.well-known/security.txt', async (_request, reply) => {
      if (contact === undefined) throw new Problem(404, 'Page not found.')
      const expires = toIsoTime(Date.now() + SECURITY_TXT_EXPIRES_MS)
      return reply
        .type('text/plain; charset=utf-8')
        .send(`Contact: ${toContactUrl(contact)}\nExpires: ${expires}\n`)
    })
  },
  { name: 'health', dependencies: ['config', 'telemetry', 'rate-limits', 'error-handler'] },
)

async function runCheck(check: ReadinessCheck): Promise<Readiness> {
  try {
    return await check()
  } catch (error) {
    return { ready: false, detail: error instanceof Problem ? error.message : 'the check failed' }
  }
}

const getBearerToken = ({ headers }: FastifyRequest): string | undefined =>
  /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1]

const FORWARDING_HEADER = /^(?:forwarded|via|x-forwarded-.*|x-real-ip)$/

// A reverse proxy on this machine also connects from loopback. Most proxies add one of these
// headers, or keep the public host.
function isLocalRequest({ headers, hostname, socket }: FastifyRequest): boolean {
  const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  return (
    isLoopback(address) &&
    isLoopback(hostname.replace(/^\[|\]$/g, '')) &&
    !Object.keys(headers).some((name) => FORWARDING_HEADER.test(name))
  )
}
