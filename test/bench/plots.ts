import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/core/config/config-part.js'
import { renderLinePlot, type Line, type Plot } from './line-plot.js'

// Plots the results of the benchmarks for the documentation.

interface ThroughputReport {
  rows: { scenario: string; clients: number; ratio: number }[]
}
interface OrdersReport {
  sizes: number[]
  latencies: { scenario: string; p50: number[] }[]
}

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
writePlot('throughput', {
  title: 'Throughput as a ratio to a bare service',
  xTitle: 'concurrent clients',
  xs: [...new Set(throughput.map(({ clients }) => clients))],
  reference: 1,
  lines: createLines(throughput, ({ ratio }) => ratio),
})

const report = readReport('orders') as OrdersReport
writePlot('growth', {
  title: 'Response time, p50, ms',
  xTitle: 'orders',
  xs: report.sizes,
  lines: report.latencies.map(({ scenario, p50 }) => ({ name: scenario, ys: p50 })),
})
console.log(`Plots written to ${folder}`)
