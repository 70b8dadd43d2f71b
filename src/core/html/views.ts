import { extname, join } from 'node:path'
import { Readable } from 'node:stream'
import view from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { projectRoot } from '../config/config-part.js'
import { isUnsafeMethod } from '../http/fetch-metadata.js'
import { createUnexpectedProblem, type Problem } from '../http/problem.js'
import { isInAdminScope } from '../http/request-path.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds data to the context of every template, such as the user and what they may do. */
    addViewContext(getData: ViewContext): void
  }
  interface FastifyRequest {
    /** Whether htmx requests a fragment instead of the whole page */
    readonly wantsFragment: boolean
  }
  interface FastifyReply {
    /** Content that all pages of a scope show, swapped out of band with each fragment */
    outOfBand: OutOfBandContent | null
    /** Renders the page, or its fragment if htmx requested one. */
    renderView(views: Views, data: object): Promise<FastifyReply>
    /** Sends a page in its loading state immediately, and the rest when it is ready. */
    streamPage(page: string, data: object, renderRest: () => Promise<string>): Promise<FastifyReply>
  }
}

type ViewContext = (request: FastifyRequest) => object

interface Views {
  /** Template of the whole page */
  page: string
  /** Template of the part that changes, if the page has one */
  fragment?: string
}

interface OutOfBandContent {
  /** Template appended to each fragment */
  template: string
  /** Data for the template and the layout, read when they are rendered */
  getData: () => object
}

/** Content type of pages and fragments. */
export const HTML = 'text/html; charset=utf-8'

/** Placeholder that a streamed page prints as `it.rest`. */
const REST_PLACEHOLDER = '<!-- the rest -->'

// When htmx restores history, it requests the whole page, with the type `full`.
function wantsFragment(this: FastifyRequest): boolean {
  return this.headers['hx-request'] === 'true' && this.headers['hx-request-type'] === 'partial'
}

/** Lets a handler send a page or its fragment, rendered with Eta from templates/. */
export default fp(
  async (app) => {
    const templates = join(projectRoot, 'templates')
    const eta = new Eta({
      views: templates,
      cache: true,
      // `null` and `undefined` print nothing.
      autoFilter: true,
      filterFunction: (value: unknown) => `${(value as string | number | null | undefined) ?? ''}`,
    })
    // All names start at the root, so each has one path. A page includes up to 60 templates, and
    // resolving their paths takes Eta an eighth of its time.
    const paths = new Map<string, string>()
    eta.resolvePath = (name) => {
      let path = paths.get(name)
      if (path === undefined) {
        path = join(templates, extname(name) === '' ? `${name}.eta` : name)
        paths.set(name, path)
      }
      return path
    }
    await app.register(view, {
      engine: { eta },
      templates,
      production: true,
      defaultContext: { asset: app.asset, brand: app.brand, can: () => false },
    })

    app.decorateRequest('wantsFragment', { getter: wantsFragment })

    const contexts: ViewContext[] = []
    app.decorate('addViewContext', (getData) => void contexts.push(getData))
    const getContext = ({ request, outOfBand }: FastifyReply, data: object): object =>
      Object.assign(
        {},
        ...contexts.map((get) => get(request)),
        outOfBand?.getData(),
        data,
      ) as object

    app.decorateReply('outOfBand', null)

    app.decorateReply(
      'renderView',
      async function (this: FastifyReply, views: Views, data: object) {
        const { wantsFragment } = this.request
        const template = wantsFragment ? (views.fragment ?? views.page) : views.page
        const context = getContext(this, data)
        let html = await app.view(template, context)
        if (wantsFragment && this.outOfBand)
          html += await app.view(this.outOfBand.template, context)
        return this.header('vary', 'Accept-Language, HX-Request, HX-Request-Type')
          .type(HTML)
          .send(html)
      },
    )

    app.decorateReply(
      'streamPage',
      async function (this: FastifyReply, page: string, data: object, renderRest) {
        // A HEAD request renders nothing, so it does not count as a scan.
        if (this.request.method === 'HEAD') return this.type(HTML).send(Readable.from([]))
        const html = await app.view(page, getContext(this, { ...data, rest: REST_PLACEHOLDER }))
        const [opening = '', closing = ''] = html.split(REST_PLACEHOLDER)
        const { request } = this
        async function* generateParts() {
          yield opening
          try {
            yield await renderRest()
          } catch (error) {
            // The status has been sent, so the error handler cannot respond.
            request.log.error({ err: error }, 'request failed')
            const { title, message } = createUnexpectedProblem()
            yield await app.view('errors/_error', { title, message, requestId: request.id })
          }
          yield closing
        }
        return this.header('vary', 'Accept-Language, HX-Request, HX-Request-Type')
          .type(HTML)
          .send(Readable.from(generateParts(), { objectMode: false }))
      },
    )
  },
  { name: 'views', dependencies: ['static-files', 'brand'] },
)

const TITLES: Partial<Record<number, string>> = {
  400: 'Bad request',
  401: 'Sign in to continue',
  403: 'Not allowed',
  404: 'Page not found',
  405: 'Method not allowed',
  429: 'Too many requests',
  502: 'Temporarily unavailable',
  503: 'Temporarily unavailable',
  504: 'Temporarily unavailable',
}

const isTransient = (statusCode: number): boolean => statusCode === 429 || statusCode >= 500

/**
 * Templates and data that show an error as a page or a fragment. In the admin scope, the page has
 * the layout of the portal and, if the error is transient, a way to retry.
 */
export function buildErrorPage(problem: Problem, request: FastifyRequest) {
  const { statusCode, heading, message, members } = problem
  const { id, url, method } = request
  const fallback = statusCode >= 500 ? 'Something went wrong' : 'The request failed'
  const title = heading ?? TITLES[statusCode] ?? fallback
  if (!isInAdminScope(url)) {
    return {
      views: { page: 'errors/error', fragment: 'errors/_failure' },
      data: { title, message, requestId: statusCode >= 500 ? id : null },
    }
  }
  const canRetry = isTransient(statusCode)
  const isUnsafe = isUnsafeMethod(method)
  return {
    views: { page: 'portal/error', fragment: 'portal/_failure' },
    data: {
      title,
      reason: message,
      /** Shown for unexpected errors only */
      requestId: statusCode === 500 ? id : null,
      /** Progress of the operation that the page waits for; the page reloads when it is complete */
      progress: isUnsafe ? undefined : members.progress,
      /** URL that repeats the request */
      retry: canRetry && !isUnsafe ? url : null,
      /** The user submitted data and can submit it again */
      wasSubmitted: canRetry && isUnsafe,
    },
  }
}
