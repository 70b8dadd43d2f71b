import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orderExports } from '../../src/orders/export/order-exports.js'
import { EXPORT_FORMATS } from '../../src/orders/export/export-request.js'
import { fillBook, usualOrders } from '../support/orders.js'

// How long an export takes, how much memory it adds, and how late the event loop comes meanwhile.

const ORDERS = Number(process.env.BENCH_ORDERS ?? 100_000)

const folder = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const path = join(folder, 'orders.db')
try {
  await fillBook(path, usualOrders(ORDERS))
  const exports = orderExports({ path, timeZone: 'Europe/Lisbon' })
  const rows = []
  for (const format of EXPORT_FORMATS) {
    const before = process.memoryUsage.rss()
    let most = before
    let late = 0
    let expected = performance.now() + 5
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss())
      late = Math.max(late, performance.now() - expected)
      expected = performance.now() + 5
    }, 5)
    const started = performance.now()
    const request = { format, filters: {}, sort: '-placedAt' } as const
    const file = await exports.start(request, new AbortController().signal)
    const firstBytes = performance.now() - started
    let bytes = 0
    for await (const chunk of file) bytes += (chunk as Buffer).length
    rows.push({
      format,
      orders: ORDERS,
      seconds: Math.round(performance.now() - started) / 1000,
      'first bytes, ms': Math.round(firstBytes),
      MB: Math.round(bytes / 1e5) / 10,
      'RSS growth, MB': Math.round((most - before) / 1e6),
      'loop late at most, ms': Math.round(late * 10) / 10,
    })
    clearInterval(watch)
  }
  console.table(rows)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
