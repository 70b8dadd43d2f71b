import { Problem } from '../../core/http/problem.js'
import type { OrderStore } from './order-store.js'

const REASON = 'Orders are read-only for maintenance'

/** An order store that rejects changes, so that its orders can be copied while the service runs. */
export function toReadOnlyStore(store: OrderStore): OrderStore {
  const reject = async (): Promise<never> => {
    throw new Problem(503, `${REASON}. Nothing was changed. Try again later.`, {
      headers: { 'retry-after': '60' },
    })
  }
  return {
    ...store,
    create: reject,
    apply: reject,
    getFreshness() {
      const { asOf, problem } = store.getFreshness() ?? {
        asOf: new Date().toISOString(),
        problem: null,
      }
      return { asOf, problem: problem ?? REASON, isWritable: false }
    },
  }
}
