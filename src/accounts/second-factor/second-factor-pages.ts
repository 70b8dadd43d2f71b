import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { getAuditActor } from '../../audit/audit-log.js'
import { createQrMatrix, renderSvg, toSvgDataUrl } from '../../core/html/qr-image.js'
import { getRequestFormatters } from '../../core/http/locale.js'
import { Problem } from '../../core/http/problem.js'
import { toText } from '../../core/validation/text-rules.js'
import { getBrowserName } from '../session-store.js'
import { getUser } from '../session.js'
import { hasSecondFactor } from './second-factor-store.js'
import type { FactorOwner, NewApp, SecondFactors } from './second-factors.js'

const URL_OF_PAGE = '/admin/account/second-factor'
const QR_SIZE = 220
const QR_MARGIN = 4
const MAX_NAME_LENGTH = 60

type Fields = Record<string, unknown>

/** Flash messages, by code. */
const SUCCESS = {
  'app-added': 'The authenticator app was added.',
  'app-removed': 'The authenticator app was removed.',
  'passkey-added': 'The passkey was added.',
  'passkey-removed': 'The passkey was removed.',
}

/** Page where users manage the second factors of their own account. */
const pages: FastifyPluginAsync = async (app) => {
  const { secondFactors } = app
  const options = {
    config: { permission: 'account:own', recentSignIn: true, withoutSecondFactor: true },
    // Not compressed, because the size of a compressed response can reveal a secret in it (BREACH).
    compress: false,
  } as const

  const getOwner = (request: FastifyRequest): FactorOwner => ({
    by: getAuditActor(request),
    sessionId: getUser(request).session.id,
  })

  /** Shows new recovery codes, or redirects to this page if there are none. */
  function showCodes(
    reply: FastifyReply,
    codes: string[] | null,
    flash: keyof typeof SUCCESS,
  ): FastifyReply | Promise<FastifyReply> {
    if (codes === null) {
      reply.setFlash({ code: flash })
      return reply.redirect(URL_OF_PAGE, 303)
    }
    return reply.renderView(
      { page: 'accounts/recovery-codes' },
      { codes, success: { text: SUCCESS[flash] } },
    )
  }

  app.get<{ Querystring: Fields }>(URL_OF_PAGE, options, async (request, reply) => {
    const factors = await secondFactors.find(getUser(request).email)
    const format = getRequestFormatters(request)
    return reply.renderView(
      { page: 'accounts/second-factor' },
      {
        success: reply.consumeFlashText(SUCCESS),
        isRequired: app.config.REQUIRE_SECOND_FACTOR && !hasSecondFactor(factors),
        hasFactor: hasSecondFactor(factors),
        appAdded: factors.appAddedAt === null ? null : format.date(factors.appAddedAt),
        canAddPasskey: secondFactors.passkeys.isAvailable,
        passkeys: factors.passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
          name,
          added: format.date(createdAt),
          lastUsed: lastUsedAt === null ? null : format.date(lastUsedAt),
          removeUrl: `/admin/account/passkeys/${id}/remove`,
        })),
        recoveryCodes: factors.recoveryCodes,
      },
    )
  })

  function showAppForm(reply: FastifyReply, newApp: NewApp, error: string | null) {
    const svg = renderSvg(createQrMatrix(newApp.uri, 'M'), QR_SIZE, QR_MARGIN)
    return reply.renderView(
      { page: 'accounts/authenticator-app' },
      {
        secret: newApp.secret.replace(/.{4}(?=.)/g, '$& '),
        sealed: newApp.sealed,
        uri: newApp.uri,
        qrCode: toSvgDataUrl(svg),
        error,
      },
    )
  }

  app.get('/admin/account/authenticator-app', options, async (request, reply) =>
    showAppForm(reply, secondFactors.createApp(getUser(request).email), null),
  )

  app.post<{ Body: Fields | undefined }>(
    '/admin/account/authenticator-app',
    options,
    async (request, reply) => {
      const { sealed, code } = request.body ?? {}
      const { email } = getUser(request)
      const newApp = secondFactors.openApp(email, toText(sealed))
      if (newApp === null) return reply.redirect('/admin/account/authenticator-app', 303)
      try {
        const codes = await secondFactors.addApp(getOwner(request), newApp, toText(code))
        await app.notifyUser(request, email, 'second_factor.added')
        return await showCodes(reply, codes, 'app-added')
      } catch (error) {
        if (!(error instanceof Problem) || error.statusCode !== 401) throw error
        const text =
          toText(code) === ''
            ? 'Enter the code'
            : 'The code is wrong. Enter the one that the app shows now.'
        return showAppForm(reply.code(422), newApp, text)
      }
    },
  )

  async function remove(
    request: FastifyRequest,
    reply: FastifyReply,
    factor: Parameters<SecondFactors['remove']>[1],
  ): Promise<FastifyReply> {
    if (await secondFactors.remove(getAuditActor(request), factor)) {
      await app.notifyUser(request, getUser(request).email, 'second_factor.removed')
      reply.setFlash({ code: factor === 'app' ? 'app-removed' : 'passkey-removed' })
    }
    return reply.redirect(URL_OF_PAGE, 303)
  }

  app.post('/admin/account/authenticator-app/remove', options, (request, reply) =>
    remove(request, reply, 'app'),
  )

  app.post<{ Params: { id: string } }>(
    '/admin/account/passkeys/:id/remove',
    options,
    (request, reply) => remove(request, reply, { passkeyId: request.params.id }),
  )

  app.post('/admin/account/passkeys/options', options, (request) =>
    secondFactors.passkeys.createRegistration(getUser(request).email),
  )

  app.post<{ Body: Fields | undefined }>(
    '/admin/account/passkeys',
    options,
    async (request, reply) => {
      const { credential, name } = request.body ?? {}
      const label = toText(name)
        .replace(/\p{Cc}/gu, ' ')
        .trim()
        .slice(0, MAX_NAME_LENGTH)
      const passkey = await secondFactors.passkeys.verifyRegistration(
        getUser(request).email,
        label || getBrowserName(request.headers['user-agent'] ?? ''),
        toText(credential),
      )
      const codes = await secondFactors.addPasskey(getOwner(request), passkey)
      await app.notifyUser(request, passkey.email, 'second_factor.added')
      return showCodes(reply, codes, 'passkey-added')
    },
  )

  app.post('/admin/account/recovery-codes', options, async (request, reply) => {
    const { email } = getUser(request)
    if (!(await secondFactors.has(email))) return reply.redirect(URL_OF_PAGE, 303)
    const codes = await secondFactors.renewRecoveryCodes(getAuditActor(request))
    await app.notifyUser(request, email, 'recovery_codes.created')
    return reply.renderView({ page: 'accounts/recovery-codes' }, { codes })
  })
}

export default pages
