import fp from 'fastify-plugin'
import { createFileRewriter } from '../../database/rewrite-file.js'
import { createEraser, type Eraser } from './erase-customer.js'
import routes from './routes.js'
import pages from './pages.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Erases the personal data of customers */
    eraser: Eraser
  }
}

const REWRITE_MS = 10_000

/** The erasure of personal data. Features add what they store. */
export default fp(
  async (app) => {
    const { orders: store, database, events, auditLog, log } = app
    const { source } = store
    const rewriter = createFileRewriter(source.type === 'sqlite' ? source.path : null, log)
    app.schedule('rewrite files', REWRITE_MS, () => rewriter.run())
    const isFile = database.engine === 'sqlite'
    app.decorate(
      'eraser',
      createEraser({ store, database, events, auditLog, isFile, rewriter, log }),
    )
    await app.register(routes)
    app.portalPages.push(pages)
  },
  { name: 'erasure', dependencies: ['orders', 'events', 'audit-log', 'scheduler'] },
)
