import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/config/project-root.js'
import { renderLinePlot, type Line, type Plot } from './line-plot.js'

// Plots the results of the benchmarks for the documentation.

interface ThroughputReport {
  rows: { scenario: string; clients: number; ratio: number }[]
}
interface OrdersReport {
  sizes: number[]
  latencies: { scenario: string; p50: number[] }[]
  sql: Row<'ratio'>[]
  exports: Row<'ratio' | 'memory growth, MB' | 'bare memory growth, MB'>[]
  latenciesDuringExports: Row<'ratio'>[]
}
/** Values measured with a number of orders. */
type Row<Column extends string> = { orders: number; scenario: string } & Record<Column, number>

const folder = join(projectRoot, '.github/bench')
mkdirSync(folder, { recursive: true })

const readReport = (name: string): unknown =>
  JSON.parse(readFileSync(join(projectRoot, `.test/bench/${name}.json`), 'utf8'))

const writePlot = (name: string, plot: Plot): void =>
  writeFileSync(join(folder, `${name}.svg`), renderLinePlot(plot))

/** Creates a line for each scenario. Its rows are in the order of the x values. */
function createLines<R extends { scenario: string }>(
  rows: R[],
  getValue: (row: R) => number,
): Line[] {
  return [...new Set(rows.map(({ scenario }) => scenario))].map((name) => ({
    name,
    ys: rows.filter(({ scenario }) => scenario === name).map(getValue),
  }))
}

const throughput = ['requests', 'proxy'].flatMap(
  (name) => (readReport(name) as ThroughputReport).rows,
)
writePlot('clients', {
  title: 'Throughput as a ratio to a bare service',
  xTitle: 'concurrent clients',
  xs: [...new Set(throughput.map(({ clients }) => clients))],
  reference: 1,
  lines: createLines(throughput, ({ ratio }) => ratio),
})

const report = readReport('orders') as OrdersReport
const axis = { xTitle: 'orders', xs: report.sizes }
const latencies = report.latencies.map(({ scenario, p50 }) => ({ name: scenario, ys: p50 }))
const isStatistics = ({ name }: Line) => name.startsWith('statistics')
writePlot('orders', {
  ...axis,
  title: 'Latency of lists and searches, p50, ms',
  lines: latencies.filter((line) => !isStatistics(line)),
})
writePlot('statistics', {
  ...axis,
  title: 'Latency of statistics, p50, ms',
  lines: latencies.filter(isStatistics),
})
writePlot('bare', {
  ...axis,
  title: 'Duration as a ratio to plain SQL and to bare exports',
  reference: 1,
  lines: [
    ...createLines(report.sql, ({ ratio }) => ratio),
    ...createLines(report.exports, ({ ratio }) => ratio),
  ],
})
writePlot('exports', {
  ...axis,
  title: 'Latency during exports, p99, as a ratio to the idle service',
  lines: createLines(report.latenciesDuringExports, ({ ratio }) => ratio),
})
writePlot('memory', {
  ...axis,
  title: 'Memory growth during an export, MB',
  // At least 1, because the axis is logarithmic.
  lines: [
    ...createLines(report.exports, (row) => Math.max(row['memory growth, MB'], 1)),
    ...createLines(
      report.exports.map((row) => ({ ...row, scenario: `${row.scenario}, bare` })),
      (row) => Math.max(row['bare memory growth, MB'], 1),
    ),
  ],
})
console.log(`Plots written to ${folder}`)
