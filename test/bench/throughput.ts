import type { ChildProcess } from 'node:child_process'
import autocannon from 'autocannon'
import { MACHINE, writeReport } from './report.js'
import { stopServers } from './servers.js'
import { median, quantile, round2 } from './statistics.js'

// Many short rounds, because the speed of a shared machine varies from second to second.
const STARTS = Number(process.env.BENCH_STARTS ?? 5)
const ROUNDS_PER_START = Number(process.env.BENCH_ROUNDS_PER_START ?? 4)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1)

export interface Load {
  path: string
  /** Sent as JSON by POST */
  body?: unknown
  headers?: Record<string, string>
  /** Each connection uses a different query string */
  hasDistinctQueries?: boolean
  /** Duration of a round */
  seconds?: number
  /** Number of requests, instead of the duration */
  amount?: number
}

/** Measures requests per second. Throws if any response is not 2xx. */
export async function measureThroughput(
  port: number,
  { path, body, headers = {}, hasDistinctQueries = false, seconds = SECONDS, amount }: Load,
  connections: number,
): Promise<number> {
  const url = `http://127.0.0.1:${port}${path}`
  const request =
    body === undefined
      ? { headers }
      : {
          method: 'POST' as const,
          body: JSON.stringify(body),
          headers: { ...headers, 'content-type': 'application/json' },
        }
  let clients = 0
  const result = await autocannon({
    url,
    connections,
    // autocannon stops at a sampling interval, which is one second by default.
    ...(amount === undefined ? { duration: seconds } : { amount, sampleInt: 50 }),
    ...request,
    setupClient(client) {
      if (hasDistinctQueries) client.setRequests([{ path: `${path}?client=${++clients}` }])
    },
  })
  // Requests still in progress at the end would slow down the next measurement.
  await fetch(url, request).then((response) => response.arrayBuffer())
  if (result.requests.total === 0 || result.non2xx + result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} responses not 2xx, ${result.errors} errors`)
  return result.requests.total / result.duration
}

function shuffle<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

/** Requests per second of each server. */
type Round = Record<'clearwake' | 'bare', number> & Record<string, number>
type Measurements = Record<keyof Round, () => Promise<number>>

/** Measures all servers in random order. The keys keep their order, for the table. */
async function runRound(measurements: Measurements): Promise<Round> {
  const results: Record<string, number> = {}
  for (const name of Object.keys(measurements)) results[name] = NaN
  for (const [name, measure] of shuffle(Object.entries(measurements))) {
    results[name] = await measure()
  }
  return results as Round
}

export interface Scenario {
  scenario: string
  clients: number
  /** Lowest acceptable ratio of Clearwake to the bare server */
  target: number
}

/**
 * Compares the throughput of servers in several scenarios; prints the results as a table and
 * writes them as JSON.
 *
 * The servers are restarted several times, because memory layout and compiled code make one process
 * up to a tenth faster or slower than another. Within a round, servers are measured in random
 * order, so that fluctuations of the machine affect all of them. The first round of each scenario
 * after a start warms up and does not count.
 *
 * @param name of the JSON file
 * @param starters start the servers, one after the other
 * @param prepare runs after each start, and returns how to measure the servers in a scenario
 */
export async function compareThroughput<S extends Scenario>(
  name: string,
  scenarios: S[],
  starters: (() => Promise<ChildProcess>)[],
  prepare: () => Promise<(scenario: S) => Measurements>,
): Promise<void> {
  const measured = scenarios.map((scenario) => ({ scenario, rounds: [] as Round[] }))
  for (let start = 0; start < STARTS; start++) {
    const children: ChildProcess[] = []
    try {
      for (const startServer of starters) children.push(await startServer())
      const getMeasurements = await prepare()
      for (const { scenario } of measured) await runRound(getMeasurements(scenario))
      for (const { scenario, rounds } of measured) {
        for (let round = 0; round < ROUNDS_PER_START; round++) {
          rounds.push(await runRound(getMeasurements(scenario)))
        }
      }
    } finally {
      await stopServers(children)
    }
  }
  const rows = measured.map(({ scenario: { scenario, clients, target }, rounds }) => ({
    scenario,
    clients,
    ...summarise(rounds),
    target,
  }))
  const rounds = STARTS * ROUNDS_PER_START
  console.log(
    `${MACHINE}; requests per second, medians of ${rounds} rounds of ${SECONDS} s (${STARTS} starts, ${ROUNDS_PER_START} rounds each)`,
  )
  console.table(rows)
  writeReport(name, { starts: STARTS, rounds, seconds: SECONDS, rows })
}

/** The median throughput of each server, and the median ratio of Clearwake to the bare server. */
function summarise(rounds: Round[]) {
  const ratios = rounds.map(({ clearwake, bare }) => clearwake / bare)
  const medians = Object.keys(rounds[0] ?? {}).map((name) => {
    const values = rounds.map((round) => round[name] ?? NaN)
    return [name, Math.round(median(values))] as const
  })
  return {
    ...Object.fromEntries(medians),
    ratio: round2(median(ratios)),
    quartiles: [0.25, 0.75].map((fraction) => round2(quantile(ratios, fraction))).join(' to '),
  }
}
