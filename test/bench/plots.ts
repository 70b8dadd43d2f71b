import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/config/project-root.js'
import { linePlot, type Line, type Plot } from './line-plot.js'

// Draws the results of the benchmarks for docs/benchmarks.md.

interface Throughput {
  rows: { work: string; clients: number; ratio: number }[]
}
interface Orders {
  sizes: number[]
  rows: { work: string; p50: number[] }[]
}

const folder = join(projectRoot, '.github/bench')
mkdirSync(folder, { recursive: true })

const read = (name: string): unknown =>
  JSON.parse(readFileSync(join(projectRoot, `.test/bench/${name}.json`), 'utf8'))

const draw = (name: string, plot: Plot): void =>
  writeFileSync(join(folder, `${name}.svg`), linePlot(plot))

/** A line for each workload; its rows are in the order of the x values. */
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
draw('throughput', {
  title: 'Throughput as a ratio to a bare service',
  xTitle: 'concurrent clients',
  xs: [...new Set(throughput.map(({ clients }) => clients))],
  mark: 1,
  lines: getLines(throughput, ({ ratio }) => ratio).map(({ name, ys }) => ({
    name: SHORT[name] ?? name,
    ys,
  })),
})

const orders = read('orders') as Orders
draw('growth', {
  title: 'Median response time, ms',
  xTitle: 'orders',
  xs: orders.sizes,
  lines: orders.rows.map(({ work, p50 }) => ({ name: work, ys: p50 })),
})
console.log(`Drawn to ${folder}`)
