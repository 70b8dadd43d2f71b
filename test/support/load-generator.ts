import { connect } from 'node:net'

/*
 * A process that sends the same request over many connections, each without a pause, and prints
 * a `Load` as JSON. Parameters: URL, connections, seconds, content coding, method, JSON body.
 */

/** Responses with one status; times in milliseconds. */
export interface ResponseTimes {
  count: number
  median: number
  p99: number
  max: number
}

export interface Load {
  /** By status */
  responses: Record<string, ResponseTimes>
  /** Requests without a response */
  lost: number
  /** Failed connection attempts */
  failedConnections: number
}

const [
  address = '',
  connections = '',
  seconds = '',
  coding = 'identity',
  method = 'GET',
  body = '',
] = process.argv.slice(2)
const { hostname, port, pathname, search } = new URL(address)
const request = [
  `${method} ${pathname}${search} HTTP/1.1`,
  'host: localhost',
  `accept-encoding: ${coding}`,
  ...(body === ''
    ? []
    : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
  '',
  body,
].join('\r\n')

const times = new Map<string, number[]>()
let lost = 0
let failedConnections = 0
let isOver = false
/** A response had `connection: close`: the service is shutting down. */
let isClosing = false

/** The status of a complete response; `null` while it is incomplete. */
function parseStatus(response: string): string | null {
  const end = response.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(response.slice(0, end)) ?? []
  const isComplete =
    length === undefined
      ? response.endsWith('\r\n0\r\n\r\n')
      : response.length >= end + 4 + Number(length)
  return isComplete ? response.slice(9, 12) : null
}

/** Sends requests over one connection until it closes. */
function runConnection(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let response = ''
    /** Time of the request in progress; 0 if there is none */
    let sentAt = 0
    const send = (): void => {
      response = ''
      sentAt = performance.now()
      socket.write(request)
    }
    socket.setEncoding('latin1')
    socket.once('connect', send)
    socket.on('data', (part: string) => {
      response += part
      const status = parseStatus(response)
      if (status === null) return
      const statusTimes = times.get(status) ?? []
      statusTimes.push(performance.now() - sentAt)
      times.set(status, statusTimes)
      isClosing ||= /\r\nconnection: close\r\n/i.test(response)
      sentAt = 0
      if (isOver || isClosing) socket.end()
      else send()
    })
    socket.on('error', () => (sentAt === 0 ? failedConnections++ : undefined))
    socket.once('close', () => {
      if (sentAt > 0) lost++
      resolve()
    })
  })
}

async function runClient(): Promise<void> {
  while (!isOver && !isClosing) await runConnection()
}

function summarise(milliseconds: number[]): ResponseTimes {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const getQuantile = (fraction: number) =>
    Math.round(sorted[Math.floor(fraction * (sorted.length - 1))] ?? 0)
  return {
    count: sorted.length,
    median: getQuantile(0.5),
    p99: getQuantile(0.99),
    max: getQuantile(1),
  }
}

const clients = Array.from({ length: Number(connections) }, runClient)
setTimeout(() => (isOver = true), Number(seconds) * 1000)
await Promise.all(clients)
const responses = Object.fromEntries(
  [...times].map(([status, milliseconds]) => [status, summarise(milliseconds)]),
)
process.stdout.write(JSON.stringify({ responses, lost, failedConnections } satisfies Load))
