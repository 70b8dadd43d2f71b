import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { getAuditActor } from '../audit/audit-log.js'
import { parseDateTime } from '../core/formatting/day-calendar.js'
import { getRequestFormatters } from '../core/http/locale.js'
import { parsePage } from '../core/http/request-path.js'
import { getOwn } from '../core/validation/formats.js'
import { toTrimmedText } from '../core/validation/text-rules.js'
import { isLive } from '../outbox/read-messages.js'
import { createWebhookValidators, NewWebhook } from './endpoint-schemas.js'
import type { WebhookEndpoint } from './endpoint-store.js'
import { logWebhookChange } from './endpoints.js'
import { EVENT_DESCRIPTIONS, WEBHOOK_EVENT_TYPES } from './webhook-message.js'
import {
  buildDeliveryView,
  buildWebhookAlerts,
  buildWebhookView,
  WEBHOOKS_URL,
} from './webhook-view.js'

type FormValues = Pick<WebhookEndpoint, 'url' | 'description'> & { events: readonly string[] }
type FormErrors = Partial<Record<keyof FormValues, string>>

/** By default, a new endpoint receives every order event. */
const NEW_ENDPOINT: FormValues = {
  url: '',
  description: '',
  events: WEBHOOK_EVENT_TYPES.filter((type) => type.startsWith('order.')),
}

/** The form of an endpoint, as opened or as submitted. */
const buildWebhookForm = (
  { url, description, events }: FormValues = NEW_ENDPOINT,
  errors: FormErrors = {},
) => ({
  url,
  description,
  events: WEBHOOK_EVENT_TYPES.map((type) => ({
    type,
    description: EVENT_DESCRIPTIONS[type],
    isChecked: events.includes(type),
  })),
  errors,
})

type WebhookForm = ReturnType<typeof buildWebhookForm>

/** Creates the function that parses the submitted form; `value` is `null` if a field is invalid. */
function createFormParser(allowLoopback: boolean) {
  const check = createWebhookValidators(allowLoopback).checker(NewWebhook)

  return (body: Record<string, unknown>): { form: WebhookForm; value: NewWebhook | null } => {
    const values = {
      url: toTrimmedText(body.url),
      description: toTrimmedText(body.description),
      events: [body.events ?? []].flat().map(toTrimmedText),
    }
    const checked = check(values)
    if (checked.ok) return { form: buildWebhookForm(values), value: checked.value }
    const errors: FormErrors = {}
    for (const { path, message } of checked.errors) {
      if (path === 'url') errors.url = values.url === '' ? 'enter a URL' : message
      else if (path === 'description') errors.description = message
      else errors.events = 'choose at least one event'
    }
    return { form: buildWebhookForm(values, errors), value: null }
  }
}

/** Flash messages on the webhook pages, by code. */
const MESSAGES: Partial<Record<string, string>> = {
  'webhook-saved': 'The endpoint was saved.',
  'webhook-enabled': 'The endpoint was enabled. You can replay failed and cancelled deliveries.',
  'webhook-disabled': 'The endpoint was disabled. Pending deliveries were cancelled.',
  'webhook-deleted': 'The endpoint was deleted.',
  'webhook-tested': 'A test event is being sent.',
  'webhook-replayed': 'The delivery will be sent again.',
  'webhooks-replayed': 'The deliveries will be sent again.',
  'webhooks-not-replayed': 'There are no deliveries to send again since that time.',
}

const MANAGE = { config: { permission: 'webhooks:manage' } } as const
/** Requires a recent sign-in before a form opens, because a later sign-in would lose the input. */
const FORM = { config: { ...MANAGE.config, recentSignIn: true } } as const
// Not compressed, because the size of a compressed response can reveal the secret in it (BREACH).
const SHOW_SECRET = { ...MANAGE, compress: false } as const

interface Route {
  Params: { id: string; deliveryId: string }
  Querystring: Record<string, unknown>
  Body: Record<string, unknown> | undefined
}

const DELIVERIES_PER_PAGE = 20

const pages: FastifyPluginAsync = async (app) => {
  const { webhooks } = app
  const { TIME_ZONE: timeZone } = app.config
  app.settings.addPage({
    href: WEBHOOKS_URL,
    label: 'Webhooks',
    permission: 'webhooks:manage',
  })
  const parseForm = createFormParser(webhooks.allowLoopback)

  function consumeMessage(reply: FastifyReply) {
    const flash = reply.request.wantsFragment ? null : reply.consumeFlash()
    const text = flash && getOwn(MESSAGES, flash.code)
    return text ? { text } : null
  }

  function redirect(reply: FastifyReply, code: string, url: string) {
    reply.setFlash({ code })
    return reply.redirect(url, 303)
  }

  const getUrl = (id: string): string => `${WEBHOOKS_URL}/${id}`

  const renderForm = (reply: FastifyReply, form: WebhookForm, endpoint: WebhookEndpoint | null) =>
    reply.renderSettings(
      { page: 'webhooks/webhook-form' },
      {
        form,
        allowLoopback: webhooks.allowLoopback,
        endpoint: endpoint && buildWebhookView(endpoint, getRequestFormatters(reply.request)),
      },
    )

  interface EndpointState {
    /** Shown only once, after it is created */
    secret?: string
    page?: number
    replayError?: string
  }

  async function renderEndpoint(
    reply: FastifyReply,
    endpoint: WebhookEndpoint,
    { secret, page = 1, replayError }: EndpointState = {},
  ) {
    const { id } = endpoint
    const format = getRequestFormatters(reply.request)
    const slice = { limit: DELIVERIES_PER_PAGE, offset: (page - 1) * DELIVERIES_PER_PAGE }
    const { items, total } = await webhooks.listDeliveries(id, slice)
    const pageCount = Math.max(1, Math.ceil(total / DELIVERIES_PER_PAGE))
    const toPageUrl = (number: number) => `${getUrl(id)}?page=${number}`
    return reply.renderSettings(
      { page: 'webhooks/webhook', fragment: 'webhooks/_deliveries' },
      {
        success: consumeMessage(reply),
        endpoint: buildWebhookView(endpoint, format),
        secret,
        replayError,
        timeZone,
        deliveries: {
          items: items.map((delivery) => buildDeliveryView(delivery, endpoint, format)),
          total: format.count(total),
          url: toPageUrl(page),
          isLive: isLive(items),
          previous: page > 1 ? toPageUrl(Math.min(page - 1, pageCount)) : null,
          next: page < pageCount ? toPageUrl(page + 1) : null,
        },
      },
    )
  }

  app.get<Route>(WEBHOOKS_URL, MANAGE, async (request, reply) => {
    const format = getRequestFormatters(request)
    const endpoints = await webhooks.list()
    return reply.renderSettings(
      { page: 'webhooks/webhooks' },
      {
        success: consumeMessage(reply),
        endpoints: endpoints.map((endpoint) => buildWebhookView(endpoint, format)),
        webhookAlerts: buildWebhookAlerts(endpoints, format),
      },
    )
  })

  app.get(`${WEBHOOKS_URL}/new`, FORM, async (_request, reply) =>
    renderForm(reply, buildWebhookForm(), null),
  )

  app.post<Route>(WEBHOOKS_URL, SHOW_SECRET, async (request, reply) => {
    const { form, value } = parseForm(request.body ?? {})
    if (value === null) return renderForm(reply.code(422), form, null)
    const { endpoint, secret } = await webhooks.create(value, getAuditActor(request))
    logWebhookChange(request, endpoint.id, 'created')
    // Not a redirect, because the secret is shown only now and is never stored in plain text.
    return renderEndpoint(reply.code(201), endpoint, { secret })
  })

  app.get<Route>(`${WEBHOOKS_URL}/:id`, MANAGE, async (request, reply) =>
    renderEndpoint(reply, await webhooks.get(request.params.id), {
      page: parsePage(request.query.page),
    }),
  )

  app.get<Route>(`${WEBHOOKS_URL}/:id/edit`, FORM, async (request, reply) => {
    const endpoint = await webhooks.get(request.params.id)
    return renderForm(reply, buildWebhookForm(endpoint), endpoint)
  })

  app.post<Route>(`${WEBHOOKS_URL}/:id/edit`, MANAGE, async (request, reply) => {
    const endpoint = await webhooks.get(request.params.id)
    const { form, value } = parseForm(request.body ?? {})
    if (value === null) return renderForm(reply.code(422), form, endpoint)
    await webhooks.update(endpoint.id, value, getAuditActor(request))
    logWebhookChange(request, endpoint.id, 'updated')
    return redirect(reply, 'webhook-saved', getUrl(endpoint.id))
  })

  for (const [action, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    app.post<Route>(`${WEBHOOKS_URL}/:id/${action}`, MANAGE, async (request, reply) => {
      const { id } = request.params
      await webhooks.update(id, { enabled }, getAuditActor(request))
      logWebhookChange(request, id, `${action}d`)
      return redirect(reply, `webhook-${action}d`, getUrl(id))
    })
  }

  app.get<Route>(`${WEBHOOKS_URL}/:id/delete`, MANAGE, async (request, reply) => {
    const endpoint = await webhooks.get(request.params.id)
    return reply.renderSettings(
      { page: 'webhooks/webhook-delete' },
      { endpoint: buildWebhookView(endpoint, getRequestFormatters(request)) },
    )
  })

  app.post<Route>(`${WEBHOOKS_URL}/:id/delete`, MANAGE, async (request, reply) => {
    const { id } = request.params
    await webhooks.delete(id, getAuditActor(request))
    logWebhookChange(request, id, 'deleted')
    return redirect(reply, 'webhook-deleted', WEBHOOKS_URL)
  })

  app.post<Route>(`${WEBHOOKS_URL}/:id/rotate-secret`, SHOW_SECRET, async (request, reply) => {
    const { id } = request.params
    const { endpoint, secret } = await webhooks.rotateSecret(id, getAuditActor(request))
    logWebhookChange(request, id, 'secret rotated')
    return renderEndpoint(reply, endpoint, { secret })
  })

  app.post<Route>(`${WEBHOOKS_URL}/:id/test`, MANAGE, async (request, reply) => {
    const { id } = request.params
    await webhooks.sendTest(id)
    return redirect(reply, 'webhook-tested', getUrl(id))
  })

  app.post<Route>(
    `${WEBHOOKS_URL}/:id/deliveries/:deliveryId/replay`,
    MANAGE,
    async (request, reply) => {
      const { id, deliveryId } = request.params
      await webhooks.requireReplayable(id)
      await webhooks.replay(id, deliveryId)
      return redirect(reply, 'webhook-replayed', getUrl(id))
    },
  )

  app.post<Route>(`${WEBHOOKS_URL}/:id/replay`, MANAGE, async (request, reply) => {
    const endpoint = await webhooks.requireReplayable(request.params.id)
    const { since, failedOnly } = request.body ?? {}
    const time = typeof since === 'string' ? parseDateTime(since, timeZone) : null
    if (time === null) {
      const replayError = 'enter a date and a time'
      return renderEndpoint(reply.code(422), endpoint, { replayError })
    }
    const options = { since: Date.parse(time), failedOnly: failedOnly !== undefined }
    const count = await webhooks.replaySince(endpoint.id, options)
    const code = count > 0 ? 'webhooks-replayed' : 'webhooks-not-replayed'
    return redirect(reply, code, getUrl(endpoint.id))
  })
}

export default pages
