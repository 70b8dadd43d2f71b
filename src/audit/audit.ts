import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { ConfigPart, Values } from '../core/config/config-part.js'
import { DAY_MS, HOUR_MS } from '../core/time.js'
import { createAuditLog, type AuditLog } from './audit-log.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  AUDIT_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 400,
    description: 'Days that entries of the audit log are kept',
  }),
}

/** The audit log. */
export const auditConfig = { variables } satisfies ConfigPart

declare module 'fastify' {
  interface FastifyInstance {
    auditLog: AuditLog
  }
  interface FastifyRequest {
    /**
     * Who makes the request, as recorded in histories and logs: the user's email, or the name of the
     * API key. The sessions provide it. Throws if the request is not authenticated.
     */
    readonly actor: string
  }
}

/** The audit log, and the job that deletes entries older than AUDIT_RETENTION_DAYS. */
export default fp(
  async (app) => {
    const auditLog = createAuditLog(app.database, app.config.TIME_ZONE)
    app.decorate('auditLog', auditLog)
    let logged = 0
    app.schedule('check the audit log', HOUR_MS, async () => {
      const oldest = Date.now() - app.config.AUDIT_RETENTION_DAYS * DAY_MS
      while ((await auditLog.deleteBefore(oldest)) > 0);
      const head = await auditLog.getHead()
      // Service logs are often stored elsewhere. `npm run audit:verify` accepts a head from a log.
      if (head.position > logged) app.log.info(head, 'head of the audit log')
      logged = head.position
    })
  },
  { name: 'audit-log', dependencies: ['config', 'database', 'scheduler'] },
)
