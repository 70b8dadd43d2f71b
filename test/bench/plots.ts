import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/config/project-root.js'
import { linePlot, type Line, type Plot } from './line-plot.js'

// Draws what the benchmarks have measured, for the README.

interface Throughput {
  rows: { work: string; clients: number; ratio: number }[]
}
interface Orders {
  sizes: number[]
  rows: { work: string; p50: number[] }[]
  sql: Of<'ratio'>[]
  files: Of<'ratio' | 'memory growth, MB' | 'bare, growth, MB'>[]
  others: Of<'ratio'>[]
}
/** Results for a number of orders. */
type Of<Figure extends string> = { orders: number; work: string } & Record<Figure, number>

const folder = join(projectRoot, '.github/bench')
mkdirSync(folder, { recursive: true })

const read = (name: string): unknown =>
  JSON.parse(readFileSync(join(projectRoot, `.test/bench/${name}.json`), 'utf8'))

const draw = (name: string, plot: Plot): void =>
  writeFileSync(join(folder, `${name}.svg`), linePlot(plot))

/** A line for each work, of a figure of its rows, which follow each other as the xs do. */
function getLines<Row extends { work: string }>(rows: Row[], figure: (row: Row) => number): Line[] {
  return [...new Set(rows.map(({ work }) => work))].map((workload) => ({
    name: workload,
    ys: rows.filter((row) => row.work === workload).map(figure),
  }))
}

const SHORT: Record<string, string> = {
  'QR code, JSON with SVG and PNG': 'QR code',
  'relay, each asks something else': 'relay, each its own',
}
const throughput = ['requests', 'proxy'].flatMap((name) => (read(name) as Throughput).rows)
draw('clients', {
  title: 'Throughput as a ratio to a bare service',
  xTitle: 'clients at once',
  xs: [...new Set(throughput.map(({ clients }) => clients))],
  mark: 1,
  lines: getLines(throughput, ({ ratio }) => ratio).map(({ name, ys }) => ({
    name: SHORT[name] ?? name,
    ys,
  })),
})

const orders = read('orders') as Orders
const byOrders = { xTitle: 'orders in the book', xs: orders.sizes }
const responses = orders.rows.map(({ work, p50 }) => ({ name: work, ys: p50 }))
const isStatistics = ({ name }: Line) => name.startsWith('statistics')
draw('orders', {
  ...byOrders,
  title: 'Milliseconds to a list or to what was searched for, median',
  lines: responses.filter((line) => !isStatistics(line)),
})
draw('statistics', {
  ...byOrders,
  title: 'Milliseconds to statistics, median',
  lines: responses.filter(isStatistics),
})
draw('bare', {
  ...byOrders,
  title: 'Time as a ratio to bare SQL and to bare exports',
  mark: 1,
  lines: [
    ...getLines(orders.sql, ({ ratio }) => ratio),
    ...getLines(orders.files, ({ ratio }) => ratio),
  ],
})
draw('exports', {
  ...byOrders,
  title: 'Other requests meanwhile, as a ratio to their p99 when idle',
  lines: getLines(orders.others, ({ ratio }) => ratio),
})
draw('memory', {
  ...byOrders,
  title: 'Growth of memory by an export, MB',
  // 1 instead of 0, which has no logarithm.
  lines: [
    ...getLines(orders.files, (row) => Math.max(row['memory growth, MB'], 1)),
    ...getLines(
      orders.files.map((row) => ({ ...row, work: `${row.work}, bare` })),
      (row) => Math.max(row['bare, growth, MB'], 1),
    ),
  ],
})
console.log(`Drawn to ${folder}`)
