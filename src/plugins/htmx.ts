import { join } from 'node:path'
import { Readable } from 'node:stream'
import view from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { projectRoot } from '../config/project-root.js'
import { createUnexpectedProblem } from '../http/problem.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** htmx asks for a part of the page, not for all of it */
    readonly wantsFragment: boolean
  }
  interface FastifyReply {
    /** What all pages of a scope show besides their own; `null` where there is nothing such */
    beside: Beside | null
    /** Answers with the page, or with its fragment where htmx asked for one. */
    hypermedia(views: Views, data: object): Promise<FastifyReply>
    /** Answers with a page in its loading state at once, and with the rest when it is there. */
    loadingPage(page: string, data: object, rest: () => Promise<string>): Promise<FastifyReply>
  }
}

interface Views {
  /** Template of the whole page */
  page: string
  /** Template of the part that changes, where the page has one */
  fragment?: string
}

/** What pages show that is not theirs: the layout has it, and it comes anew after each fragment. */
interface Beside {
  /** Template of the part that comes after a fragment */
  part: string
  /** What it and the layout show, when they are made */
  data: () => object
}

/** The type of pages and of their parts. */
export const HTML = 'text/html; charset=utf-8'

/** Stands in a loading page where its rest goes; a template prints it as `it.rest`. */
const REST_MARK = '<!-- the rest -->'

// Going back through history htmx asks for the whole page: it says so by its type `full`.
function wantsFragment(this: FastifyRequest): boolean {
  return this.headers['hx-request'] === 'true' && this.headers['hx-request-type'] === 'partial'
}

/** Pages and fragments from one handler; templates are Eta, found in templates/. */
export default fp(
  async (app) => {
    const templates = join(projectRoot, 'templates')
    await app.register(view, {
      engine: {
        eta: new Eta({
          views: templates,
          cache: true,
          // What has no value prints nothing.
          autoFilter: true,
          filterFunction: (value: unknown) =>
            `${(value as string | number | null | undefined) ?? ''}`,
        }),
      },
      templates,
      production: true,
      defaultContext: { asset: app.asset },
    })

    app.decorateRequest('wantsFragment', { getter: wantsFragment })

    app.decorateReply('beside', null)

    app.decorateReply(
      'hypermedia',
      async function (this: FastifyReply, views: Views, data: object) {
        const { wantsFragment } = this.request
        const template = wantsFragment ? (views.fragment ?? views.page) : views.page
        const shown = { ...this.beside?.data(), ...data }
        let html = await app.view(template, shown)
        if (wantsFragment && this.beside) html += await app.view(this.beside.part, shown)
        return this.header('vary', 'HX-Request, HX-Request-Type').type(HTML).send(html)
      },
    )

    app.decorateReply(
      'loadingPage',
      async function (this: FastifyReply, page: string, data: object, rest) {
        // A look without opening is not a scan.
        if (this.request.method === 'HEAD') return this.type(HTML).send(Readable.from([]))
        const [opening = '', closing = ''] = (
          await app.view(page, { ...this.beside?.data(), ...data, rest: REST_MARK })
        ).split(REST_MARK)
        const { request } = this
        async function* parts() {
          yield opening
          try {
            yield await rest()
          } catch (error) {
            // The status has gone out with the opening, so the error handler comes too late.
            request.log.error({ err: error }, 'request failed')
            const { title, message } = createUnexpectedProblem()
            yield await app.view('errors/_error', { title, message, requestId: request.id })
          }
          yield closing
        }
        return this.header('vary', 'HX-Request, HX-Request-Type')
          .type(HTML)
          .send(Readable.from(parts(), { objectMode: false }))
      },
    )
  },
  { name: 'htmx', dependencies: ['assets'] },
)
