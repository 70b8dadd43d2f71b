import type { FastifyInstance } from 'fastify'
import { getNumberFormatter } from '../core/formatting/number-formatter.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.js'
import type { Queryable } from '../database/database.js'
import {
  ATTEMPT_FIELD,
  findLatestAttempt,
  isPlaced,
  isSameTons,
  type FulfilmentAttempt,
} from '../orders/attempt.js'
import { ERASED_NAME, ERASURE_FIELD, getBeneficiary, isErased } from '../orders/erase-order.js'
import { getEventTypes } from '../orders/order-event.js'
import type { EventConsumer } from '../orders/order-events/event-dispatcher.js'
import { describeOrderTrip, describeShare } from '../orders/order-trip.js'
import type { Order } from '../orders/order.js'
import { findSharedProviderOrders } from '../orders/store/order-store.js'
import { enqueueMessage, getMessageId, type Message } from '../outbox/messages.js'
import type { Sender, SendResult } from '../outbox/outbox.js'
import { eraseBeneficiary, findOrderCertificate, insertCertificate } from './certificate-store.js'
import {
  createCode,
  hasEvidence,
  isSameRetirement,
  isValid,
  type Certificate,
  type CertificateContent,
} from './certificate.js'

/** The queue of certificates to issue. */
export const CERTIFICATE_QUEUE = 'certificate'

/** More than two days, so that no certificate is lost if NocoDB is down for a weekend. */
const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  4 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
]
/** After this many failures, a certificate is issued without the provider's details. */
const MAX_FAILURES = 3

const CONCURRENCY = 2
const MAX_REQUESTS = 4

/** Certificates are in British English, regardless of the reader's locale. */
const LOCALE = 'en-GB'

const toResult = (outcome: SendResult['outcome'], detail: string): SendResult => ({
  outcome,
  status: null,
  detail,
})

const DONE = toResult('sent', 'Issued')

/** Called in the transaction that issues a certificate, and when one turns out to be valid again. */
export type OnIssued = (
  tx: Queryable,
  issued: { certificate: Certificate; order: Order },
) => Promise<void>

/** The content that depends only on the order and on how it was placed with the provider. */
type OrderContent = Omit<CertificateContent, 'orderedAt' | 'projects' | 'provider'>

/** The mass that was bought; the order's mass if Clearwake did not place the order. */
const getOffsetKg = (order: Order, placed: FulfilmentAttempt | null): number =>
  placed === null ? order.co2eKg : Number((placed.tons * 1000).toPrecision(12))

/** The trip and, unless it is the whole trip, the guest's share of it. */
function describeTripAndShare(order: Order): string | null {
  const numbers = getNumberFormatter(LOCALE)
  const trip = describeOrderTrip(order, numbers)
  const { checkout, calculatorData, co2eKg } = order
  if (trip === null || checkout === null || checkout.sharePercent === 100) return trip
  if ((checkout.co2eKg ?? co2eKg) !== co2eKg) return trip
  return `${trip} (${describeShare(checkout, calculatorData?.guests, numbers)})`
}

/** What the certificate of an order states, except what the provider knows. */
export const toOrderContent = (order: Order, placed: FulfilmentAttempt | null): OrderContent => ({
  beneficiary: getBeneficiary(order),
  isPublic: order.checkout?.isPublic ?? false,
  vesselName: order.vesselName,
  imoNumber: order.imoNumber,
  trip: describeTripAndShare(order),
  co2eKg: getOffsetKg(order, placed),
  // What the guest chose is no evidence of what was bought.
  portfolioName: placed?.portfolioName ?? null,
  portfolioId: placed?.portfolioId ?? null,
  retirement: order.retirement,
})

/** The fields that are evidence of retirement; see `hasEvidence`. */
const EVIDENCE_FIELDS = ['status', 'retirement', 'orderSourceId', ATTEMPT_FIELD]

/** Whether an order may have evidence of retirement; its history decides. */
const mayHaveEvidence = ({ paidAt, status, retirement, orderSourceId }: Order): boolean =>
  paidAt !== null && (retirement !== null || (status === 'fulfilled' && orderSourceId !== null))

/** Issues a certificate for each paid guest order with evidence of retirement. */
export function createCertificateIssuer(app: FastifyInstance, onIssued: OnIssued) {
  const { database, orders: store, orderSource: source } = app
  const { ORDERSOURCE_NAME: providerName = null } = app.config

  /**
   * Reads the provider's data; `null` if it is not available, `differs` if it is not what was placed.
   *
   * @param isLast whether to return at least what the order is called at the provider
   */
  async function readProvider(
    placed: FulfilmentAttempt,
    orderId: string,
    isLast: boolean,
  ): Promise<Pick<CertificateContent, 'projects' | 'provider'> | 'differs' | null> {
    const unknown = { certificateUrl: null, registryUrl: null, serialNumbers: [] }
    const provider = { ...unknown, name: providerName, orderId }
    if (source === null) return { projects: [], provider }
    const portfolios = await source.listPortfolios()
    const proof = await source.getCertificate(orderId)
    if (portfolios.outcome !== 'ok' || proof.outcome !== 'ok') {
      return isLast ? { projects: [], provider } : null
    }
    const { record, ...certificate } = proof.value
    const { portfolioId, tons } = placed
    const isSame =
      record === null ||
      (isSameTons(record.tons, tons) && (record.portfolioId ?? portfolioId) === portfolioId)
    if (!isSame) return 'differs'
    // A portfolio with another name may have other projects by now.
    const portfolio = portfolios.value.find(
      ({ id, name }) => id === portfolioId && name === placed.portfolioName,
    )
    const projects = (portfolio?.projects ?? []).map(
      ({ id, name, country, kind, standard, vintage, registry, registryUrl }) => ({
        id,
        name,
        country,
        kind,
        standard,
        vintage,
        registry,
        registryUrl,
      }),
    )
    return { projects, provider: { ...provider, ...certificate } }
  }

  async function issue(order: Order, message: Message): Promise<SendResult> {
    const attempt = findLatestAttempt((await store.getHistory(order.id)) ?? [])
    if (!hasEvidence(order, attempt)) {
      return toResult('cancelled', 'There is no evidence of retirement.')
    }
    const { orderSourceId } = order
    const isShared = (await findSharedProviderOrders(store, order)).length > 0
    const placed = isPlaced(order, attempt) && !isShared ? attempt : null
    if (order.retirement === null && isShared) {
      return toResult('cancelled', 'Another order has the same order at the provider.')
    }
    const content = toOrderContent(order, placed)
    const existing = await findOrderCertificate(database, order.id)
    // The order was fulfilled again, for example after a refund was undone.
    if (
      existing !== null &&
      isValid(existing, order, attempt) &&
      isSameRetirement(existing, order) &&
      existing.content.co2eKg === content.co2eKg
    ) {
      // Its email may have been cancelled by an undo.
      await database.write(async (tx) => onIssued(tx, { certificate: existing, order }))
      return DONE
    }

    const known =
      placed === null || orderSourceId === null
        ? { projects: [], provider: null }
        : await readProvider(placed, orderSourceId, message.failures >= MAX_FAILURES)
    if (known === null) return toResult('retry', 'The provider cannot be reached.')
    if (known === 'differs') {
      return toResult(
        'retry',
        'The provider’s record differs from what was placed. Check the order.',
      )
    }
    // The order may have been changed or erased while the provider responded.
    if ((await store.get(order.id))?.version !== order.version) {
      return toResult('retry', 'The order was changed in the meantime.')
    }
    const certificate: Certificate = {
      code: createCode(),
      orderId: order.id,
      issuedAt: new Date().toISOString(),
      content: {
        ...content,
        orderedAt: order.placedAt,
        ...known,
        // As they were when this order at the provider was first certified.
        projects:
          known.provider !== null && existing?.content.provider?.orderId === known.provider.orderId
            ? existing.content.projects
            : known.projects,
      },
    }
    await database.write(async (tx) => {
      const isNew = await insertCertificate(tx, certificate, message.id)
      if (isNew) await onIssued(tx, { certificate, order })
    })
    // The name may have been erased while the certificate was being stored.
    const latest = await store.get(order.id)
    const name = latest && getBeneficiary(latest)
    if (name !== content.beneficiary) {
      await database.write((tx) => eraseBeneficiary(tx, order.id, name))
    }
    return DONE
  }

  /** The fields that changed in this version of an order. */
  async function listChangedFields(tx: Queryable, { id, version }: Order): Promise<string[]> {
    const history = (await store.getHistory(id, tx)) ?? []
    const entry = history.find((candidate) => candidate.version === version)
    return entry?.changes.map(({ field }) => field) ?? []
  }

  /** Whether the change concerns the evidence of retirement. */
  const changedEvidence = async (tx: Queryable, order: Order): Promise<boolean> =>
    (await listChangedFields(tx, order)).some((field) => EVIDENCE_FIELDS.includes(field))

  /** Whether the change erased the data of a customer, perhaps of a former one. */
  const isErasure = async (tx: Queryable, order: Order): Promise<boolean> =>
    isErased(order) ||
    (order.checkout?.beneficiary === ERASED_NAME &&
      (await listChangedFields(tx, order)).includes(ERASURE_FIELD))

  return {
    /**
     * Queues a certificate when a guest order is fulfilled, or when the evidence of its retirement
     * changes. Erases the beneficiary from the certificates of an erased order.
     */
    consume: (async (tx, event) => {
      const { order } = event
      if (await isErasure(tx, order)) await eraseBeneficiary(tx, order.id, getBeneficiary(order))
      if (order.checkout === null || !mayHaveEvidence(order)) return
      if (!getEventTypes(event).includes('order.fulfilled')) {
        const existing = await findOrderCertificate(tx, order.id)
        const provider = existing?.content.provider ?? null
        const isSameProvider = provider === null || provider.orderId === order.orderSourceId
        const isSameMass = provider !== null || existing?.content.co2eKg === order.co2eKg
        if (existing && isSameRetirement(existing, order) && isSameProvider && isSameMass) return
        // Imported orders may have evidence, and no certificate here.
        if (existing === null && !(await changedEvidence(tx, order))) return
      }
      await enqueueMessage(tx, {
        id: getMessageId('cert', 'certificate', order.id, order.version, order.updatedAt),
        queue: CERTIFICATE_QUEUE,
        sequence: `certificate:${order.id}`,
        type: 'order.fulfilled',
        orderId: order.id,
        payload: {},
      })
    }) satisfies EventConsumer,

    sender: {
      queuePrefix: CERTIFICATE_QUEUE,
      concurrency: CONCURRENCY,
      leaseMs: MAX_REQUESTS * (source?.maxRequestMs ?? 0) + 10 * SECOND_MS,
      retryDelaysMs: RETRY_DELAYS_MS,
      async send(message): Promise<SendResult> {
        const { orderId } = message
        const order = orderId === null ? null : await store.get(orderId)
        return order === null
          ? toResult('rejected', 'The order does not exist.')
          : issue(order, message)
      },
    } satisfies Sender,
  }
}
