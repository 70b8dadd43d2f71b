import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyReply {
    /** Leaves a message for the page that this answer leads to. */
    leaveMessage(message: FlashMessage): void
    /** The message that was left for this page, if any; it is shown once. */
    takeMessage(): FlashMessage | null
  }
}

/** What a message is about. Its words are found where it is shown, so none can be slipped in. */
export interface FlashMessage {
  /** Which message: small letters and hyphens */
  code: string
  /** The order it is about */
  orderId: string
}

const COOKIE = 'clearwake-message'
const SECONDS = 60
const WRITTEN = /^([a-z-]{1,40})\.(\d{1,16})$/

/** Messages that outlive a redirect: what was done, told on the page that comes after. */
export default fp(
  async (app) => {
    const options = {
      path: '/admin',
      httpOnly: true,
      sameSite: 'strict' as const,
      secure: app.publicBaseUrl().startsWith('https:'),
    }
    app.decorateReply('leaveMessage', function ({ code, orderId }) {
      this.setCookie(COOKIE, `${code}.${orderId}`, { ...options, maxAge: SECONDS })
    })
    app.decorateReply('takeMessage', function () {
      const left = this.request.cookies[COOKIE]
      // A look without opening shows nothing.
      if (left === undefined || this.request.method !== 'GET') return null
      this.clearCookie(COOKIE, options)
      const [, code, orderId] = WRITTEN.exec(left) ?? []
      return code === undefined || orderId === undefined ? null : { code, orderId }
    })
  },
  { name: 'flash', dependencies: ['config', 'session'] },
)
