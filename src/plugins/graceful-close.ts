import fp from 'fastify-plugin'

/**
 * Lets a stop be quick and still drop nothing: once it has begun, every answer ends its
 * connection, so that none is left waiting for a next request that must not come.
 */
export default fp(
  async (app) => {
    let closing = false
    app.addHook('preClose', async () => {
      closing = true
    })
    app.addHook('onSend', async (_request, reply, payload) => {
      if (closing) void reply.header('connection', 'close')
      return payload
    })
  },
  { name: 'graceful-close' },
)
