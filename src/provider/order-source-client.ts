import { Readable } from 'node:stream'
import { parseJson } from '../core/validation/formats.js'
import { createUpstreamHeaders, hasContentEncoding } from './headers.js'
import type { NewOffsetOrder, OffsetOrder, ProviderCertificate } from './offset-order.js'
import {
  getErrorMessage,
  parseCertificateUrls,
  parseOrder,
  parseOrders,
  parsePlacedOrder,
  parsePortfolios,
  parseQuote,
  type Parse,
} from './parse-response.js'
import { createSecretRedactor } from './redact.js'
import { readWholeBody, UpstreamError } from './upstream-response.js'
import type { Upstream } from './upstream.js'

export type OrderSourceResult<T> =
  | { outcome: 'ok'; value: T }
  /** Rejected without effect. `message` is the provider's reason on one line; it may be empty. */
  | { outcome: 'refused'; status: number; message: string }
  /** The provider is unreachable or failed. The request had no effect. */
  | { outcome: 'unreachable' }
  /** The response is invalid. The request had no effect. */
  | { outcome: 'invalid_response' }
  /** The request was sent and may have had an effect. Check before you send it again. */
  | { outcome: 'unknown' }

const NO_CERTIFICATE: ProviderCertificate = {
  certificateUrl: null,
  registryUrl: null,
  serialNumbers: [],
}

interface JsonRequest {
  method: 'GET' | 'POST'
  /** Below the base path, percent-encoded */
  path: string
  body?: unknown
  headers?: Record<string, string>
}

interface JsonResponse {
  status: number
  /** `undefined` if it is not JSON */
  body: unknown
  /** The Link header; it may be empty */
  link: string
}

const MAX_JSON_BYTES = 5 * 1024 * 1024

/** IDs that can be part of a path. */
const PATH_ID = /^(?!\.+$)[\w.~-]{1,120}$/

/**
 * Statuses that mean that an order was certainly not placed. Any other error can come from a
 * gateway after the provider has received the order.
 */
const REJECTED = [400, 401, 402, 403, 422]

/** Typed client of the order source. Failures of the provider are results, not exceptions. */
export function createOffsetOrderSource(upstream: Upstream) {
  const { basePath, token } = upstream
  const redactor = createSecretRedactor(token)

  /** Sends JSON. Throws a Problem, usually an UpstreamError. */
  async function send({ method, path, body, headers }: JsonRequest): Promise<JsonResponse> {
    const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const response = await upstream.request({
      method,
      path: basePath + path,
      headers: {
        ...createUpstreamHeaders(token),
        accept: 'application/json',
        ...(json && { 'content-type': 'application/json', 'content-length': String(json.length) }),
        ...headers,
      },
      // A stream, because a stream shows whether the request was sent.
      ...(json && { body: Readable.from([json]) }),
    })
    const bytes = await readWholeBody(response, MAX_JSON_BYTES)
    const isReadable = bytes !== undefined && !hasContentEncoding(response.headers)
    const text = isReadable ? redactor.redactText(bytes.toString()) : ''
    const { link = '' } = response.headers
    return { status: response.statusCode, body: parseJson(text), link: String(link) }
  }

  /** @param isPurchase whether the request places an order */
  function toResult<T>(
    { status, body, link }: JsonResponse,
    parse: Parse<T>,
    isPurchase: boolean,
  ): OrderSourceResult<T> {
    if (status >= 400 && status < 500 && (!isPurchase || REJECTED.includes(status))) {
      return { outcome: 'refused', status, message: getErrorMessage(body) }
    }
    const value = status < 300 ? parse(body, link) : null
    if (value !== null) return { outcome: 'ok', value }
    if (isPurchase) return { outcome: 'unknown' }
    return { outcome: status >= 500 ? 'unreachable' : 'invalid_response' }
  }

  async function call<T>(
    request: JsonRequest,
    parse: Parse<T>,
    isPurchase = false,
  ): Promise<OrderSourceResult<T>> {
    try {
      return toResult(await send(request), parse, isPurchase)
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      const { code, message, wasSent } = error
      if (code === 'token_rejected') return { outcome: 'refused', status: 401, message }
      if (isPurchase && wasSent) return { outcome: 'unknown' }
      const isInvalid = code === 'invalid_response' || code === 'too_large'
      return { outcome: isInvalid ? 'invalid_response' : 'unreachable' }
    }
  }

  const listOrders = () => call({ method: 'GET', path: '/offset-orders' }, parseOrders)

  /** Returns an order; `null` if it does not exist. */
  async function getOrder(id: string): Promise<OrderSourceResult<OffsetOrder | null>> {
    if (PATH_ID.test(id)) {
      const order = await call({ method: 'GET', path: `/offset-orders/${id}` }, parseOrder)
      if (order.outcome !== 'refused' || order.status !== 404) return order
    }
    // Not every provider has a route for a single order.
    const list = await listOrders()
    if (list.outcome !== 'ok') return list
    const { orders, isComplete } = list.value
    const order = orders.find((candidate) => candidate.id === id) ?? null
    return order === null && !isComplete
      ? { outcome: 'invalid_response' }
      : { outcome: 'ok', value: order }
  }

  return {
    /** Time limit of each request, ms; some functions send more than one */
    maxRequestMs: upstream.maxRequestMs,
    listPortfolios: () => call({ method: 'GET', path: '/portfolios' }, parsePortfolios),
    listOrders,
    getOrder,
    /** Returns the provider's proof of an order; missing values are `null` or empty. */
    async getCertificate(
      id: string,
    ): Promise<OrderSourceResult<ProviderCertificate & { record: OffsetOrder | null }>> {
      const order = await getOrder(id)
      if (order.outcome !== 'ok') return order
      const record = order.value
      if (record !== null && record.id !== id) return { outcome: 'invalid_response' }
      const certificate = { ...(record?.certificate ?? NO_CERTIFICATE), record }
      if (certificate.certificateUrl !== null) return { outcome: 'ok', value: certificate }
      // Wren lists the certificate URLs with its purchases; other providers have no such list.
      const urls = await call({ method: 'GET', path: '/purchases' }, parseCertificateUrls)
      if (urls.outcome === 'unreachable') return urls
      const certificateUrl = urls.outcome === 'ok' ? (urls.value.get(id) ?? null) : null
      return { outcome: 'ok', value: { ...certificate, certificateUrl } }
    },
    /**
     * Places an order, which spends money, or gets a quote (`dryRun`). The request is sent only once.
     * Not every provider honours the idempotency key.
     */
    placeOrder: (order: NewOffsetOrder, idempotencyKey: string) =>
      call(
        {
          method: 'POST',
          path: '/offset-orders',
          body: order,
          headers: { 'idempotency-key': idempotencyKey },
        },
        order.dryRun ? parseQuote : parsePlacedOrder,
        !order.dryRun,
      ),
  }
}

export type OffsetOrderSource = ReturnType<typeof createOffsetOrderSource>
