import type { WebhookEndpoint } from './endpoint-store.js'
import { EVENT_DESCRIPTIONS, WEBHOOK_EVENT_TYPES } from './event-types.js'
import { createWebhookValidators, NewWebhook } from './schemas.js'

/** The form of an endpoint, as opened or as submitted. */
export interface WebhookForm {
  url: string
  description: string
  events: { type: string; description: string; isChecked: boolean }[]
  errors: Partial<Record<'url' | 'description' | 'events', string>>
}

type FormValues = Pick<WebhookEndpoint, 'url' | 'description'> & { events: readonly string[] }

/** By default, a new endpoint receives every order event. */
const NEW_ENDPOINT: FormValues = {
  url: '',
  description: '',
  events: WEBHOOK_EVENT_TYPES.filter((type) => type.startsWith('order.')),
}

export const buildWebhookForm = (
  { url, description, events }: FormValues = NEW_ENDPOINT,
  errors: WebhookForm['errors'] = {},
): WebhookForm => ({
  url,
  description,
  events: WEBHOOK_EVENT_TYPES.map((type) => ({
    type,
    description: EVENT_DESCRIPTIONS[type],
    isChecked: events.includes(type),
  })),
  errors,
})

const toText = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** Creates the function that parses the submitted form; `value` is `null` if a field is invalid. */
export function createFormParser(allowLoopback: boolean) {
  const check = createWebhookValidators(allowLoopback).checker(NewWebhook)

  return (body: Record<string, unknown>): { form: WebhookForm; value: NewWebhook | null } => {
    const values = {
      url: toText(body.url),
      description: toText(body.description),
      events: [body.events ?? []].flat().map(toText),
    }
    const checked = check(values)
    if (checked.ok) return { form: buildWebhookForm(values), value: checked.value }
    const errors: WebhookForm['errors'] = {}
    for (const { path, message } of checked.errors) {
      if (path === 'url') errors.url = values.url === '' ? 'enter a URL' : message
      else if (path === 'description') errors.description = message
      else errors.events = 'choose at least one event'
    }
    return { form: buildWebhookForm(values, errors), value: null }
  }
}
