import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/project-root.js'
import { linePlot } from './line-plot.js'

// Draws what the benchmarks have measured, for the README.

interface Throughput {
  rows: { work: string; clients: number; ratio: number }[]
}
interface Orders {
  sizes: number[]
  rows: { work: string; p50: number[] }[]
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(join(projectRoot, `.test/bench/${name}.json`), 'utf8'))

const folder = join(projectRoot, '.github/bench')
mkdirSync(folder, { recursive: true })

const rows = ['requests', 'proxy'].flatMap((name) => (read(name) as Throughput).rows)
const works = [...new Set(rows.map(({ work }) => work))].filter(
  // Far above the others, and told in the table.
  (work) => !work.startsWith('QR') && work !== 'relay, all ask the same',
)
const clients = [...new Set(rows.map((row) => row.clients))]
writeFileSync(
  join(folder, 'clients.svg'),
  linePlot({
    title: 'Throughput as a ratio to a bare service',
    xTitle: 'clients at once',
    xs: clients,
    lines: works.map((work) => ({
      name: work.replace('each asks something else', 'not shared'),
      ys: rows.filter((row) => row.work === work).map(({ ratio }) => ratio),
    })),
  }),
)

const orders = read('orders') as Orders
const SHOWN = ['list, first page', 'list, one month', 'search, e-mail', 'statistics, 30 days']
writeFileSync(
  join(folder, 'orders.svg'),
  linePlot({
    title: 'Milliseconds to the answer, median',
    xTitle: 'orders in the book',
    xs: orders.sizes,
    lines: orders.rows
      .filter(({ work }) => SHOWN.includes(work))
      .map(({ work, p50 }) => ({ name: work, ys: p50 })),
  }),
)
console.log(`Drawn to ${folder}`)
