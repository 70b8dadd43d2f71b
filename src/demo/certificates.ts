import type { Database } from '../database/database.js'
import { insertCertificate } from '../certificates/certificate-store.js'
import { createCode } from '../certificates/certificate.js'
import { toOrderContent } from '../certificates/issue-certificates.js'
import type { DemoOrder } from './orders.js'

/** Adds the certificates of the fulfilled guest orders, as if they had been issued at once. */
export const addCertificates = (database: Database, orders: Iterable<DemoOrder>): Promise<void> =>
  database.write(async (tx) => {
    for (const { order } of orders) {
      const { id, checkout, retirement, fulfilledAt, placedAt } = order
      if (checkout === null || retirement === null || fulfilledAt === null) continue
      const content = {
        ...toOrderContent(order, null),
        orderedAt: placedAt,
        projects: [],
        provider: null,
      }
      const certificate = { code: createCode(), orderId: id, issuedAt: fulfilledAt, content }
      await insertCertificate(tx, certificate, `demo_${id}`)
    }
  })
