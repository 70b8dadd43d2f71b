import type { FastifyPluginAsync } from 'fastify'
import { createListLoader } from './load-list.js'
import { getViewMessage } from './saved-views.js'

const READ = { config: { permission: 'orders:read' } } as const

/** The list of orders. */
const pages: FastifyPluginAsync = async (app) => {
  const loadList = createListLoader(app)

  app.get<{ Querystring: Record<string, unknown> }>(
    '/admin/orders',
    READ,
    async (request, reply) => {
      const list = await loadList(request, request.query)
      if (request.wantsFragment) {
        // Omits the empty parameters that forms send, and does not push the current URL again.
        const currentUrl = request.headers['hx-current-url']?.toString() ?? ''
        void reply.header('hx-push-url', currentUrl.endsWith(list.url) ? 'false' : list.url)
      }
      const message = request.wantsFragment
        ? null
        : getViewMessage(reply.consumeFlash()?.code ?? '')
      // While the user types, only the list is swapped, so that the form keeps its focus.
      const isListOnly = request.headers['hx-target']?.toString().endsWith('#list') ?? false
      return reply.renderView(
        {
          page: 'orders/orders',
          fragment: isListOnly ? 'orders/_list-part' : 'orders/_orders',
        },
        {
          list,
          success: message === null ? null : { text: message },
        },
      )
    },
  )
}

export default pages
