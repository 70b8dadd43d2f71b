import { createSession, type PageResponse } from './page-client.js'

/**
 * A guest's browser without scripts: keeps cookies and sends forms. Follows redirects to an order
 * form, but no others.
 */
export interface Guest {
  get: (path: string, headers?: Record<string, string>) => Promise<PageResponse>
  post: (
    path: string,
    fields: URLSearchParams,
    headers?: Record<string, string>,
  ) => Promise<PageResponse>
}

export function createGuest(url: string): Guest {
  const send = createSession(url, { 'accept-language': 'en-GB' })
  return {
    get: (path, headers = {}) => send(path, { headers }),
    async post(path, body, headers = {}) {
      const response = await send(path, {
        method: 'POST',
        body,
        headers: { origin: url, ...headers },
      })
      const location = response.headers.get('location') ?? ''
      return location.startsWith('/offset?') ? send(location, { headers }) : response
    },
  }
}

const unescape = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&nbsp;', '\u00a0')
    .replaceAll('&amp;', '&')

const getAttribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : unescape(value)
}

/** The fields that a browser would send for the only form on a page. */
export function readForm({ text }: PageResponse): URLSearchParams {
  const fields = new URLSearchParams()
  const [, form = ''] = /<form[^>]*>(.*)<\/form>/s.exec(text) ?? []
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const type = getAttribute(tag, 'type')
    const isOption = type === 'radio' || type === 'checkbox'
    if (isOption && !/\schecked/.test(tag)) continue
    fields.append(getAttribute(tag, 'name') ?? '', getAttribute(tag, 'value') ?? '')
  }
  return fields
}

/** The href of the first link whose text starts with a label; empty if there is none. */
export const findLink = ({ text }: PageResponse, label: string): string =>
  [...text.matchAll(/<a\s[^>]*>/g)]
    .filter(({ 0: tag, index }) => text.slice(index + tag.length).startsWith(label))
    .map(([tag]) => getAttribute(tag, 'href') ?? '')[0] ?? ''

/** The text of a page, as a person would read it. */
export const toText = ({ text }: PageResponse): string =>
  unescape(text.replace(/<[^>]+>/g, ' ')).replace(/\s+/g, ' ')

/** Fills in an order form, so that it can be sent. */
export function fillIn(
  form: URLSearchParams,
  fields: Record<string, string> = {},
): URLSearchParams {
  const filled = { name: 'Ann Example', email: 'ann@example.com', ...fields }
  for (const [name, value] of Object.entries(filled)) form.set(name, value)
  return form
}

/** Orders the offset of two tonnes, under any name; returns the path of the order's page. */
export async function placeOrder(
  guest: Guest,
  fields: Record<string, string> = {},
): Promise<string> {
  const form = readForm(await guest.get('/offset?type=custom&amount=2&unit=t'))
  const response = await guest.post('/offset', fillIn(form, fields))
  const { status, headers } = response.text.includes('keep the name')
    ? await guest.post('/offset', fillIn(readForm(response), fields))
    : response
  if (status !== 303) throw new Error(`The order was not placed: ${status} ${toText(response)}`)
  return headers.get('location') ?? ''
}
