import fp from 'fastify-plugin'
import { getOwn } from '../validation/formats.js'

declare module 'fastify' {
  interface FastifyReply {
    /** Sets the message for the page that this response redirects to. */
    setFlash(message: FlashMessage): void
    /** Returns the message for this page, if any, and clears it. */
    consumeFlash(): Required<FlashMessage> | null
    /** Same, as the text for its code. */
    consumeFlashText(texts: Readonly<Record<string, string>>): { text: string } | null
  }
}

/** A message as a code. The page looks up its text, so a forged cookie cannot inject text. */
interface FlashMessage {
  /** Lower-case letters and hyphens */
  code: string
  /** The order that the message is about, if any */
  orderId?: string
}

const MAX_AGE_SECONDS = 60
const FORMAT = /^([a-z-]{1,40})\.(\d{0,16})$/

/** Flash messages, which survive a redirect and are shown once. */
export default fp(
  async (app) => {
    const secure = app.publicBaseUrl().startsWith('https:')
    const name = secure ? '__Host-clearwake-flash' : 'clearwake-flash'
    // Browsers accept the prefix only with this path.
    const options = { path: '/', httpOnly: true, sameSite: 'strict' as const, secure }
    app.decorateReply('setFlash', function ({ code, orderId = '' }) {
      this.setCookie(name, `${code}.${orderId}`, { ...options, maxAge: MAX_AGE_SECONDS })
    })
    app.decorateReply('consumeFlash', function () {
      const cookie = this.request.cookies[name]
      // A HEAD request shows nothing.
      if (cookie === undefined || this.request.method !== 'GET') return null
      this.clearCookie(name, options)
      const [, code, orderId] = FORMAT.exec(cookie) ?? []
      return code === undefined || orderId === undefined ? null : { code, orderId }
    })
    app.decorateReply('consumeFlashText', function (texts) {
      const text = getOwn(texts, this.consumeFlash()?.code ?? '')
      return text === undefined ? null : { text }
    })
  },
  { name: 'flash', dependencies: ['config', 'session'] },
)
