import { connect } from 'node:net'

/*
 * Sends requests to a URL over many connections without a pause, and prints the responses as JSON:
 * `Load`.
 */

/** Responses with one status: their number, and response times in ms. */
export interface ResponseTimes {
  count: number
  median: number
  p99: number
  longest: number
}

export interface Load {
  /** By status */
  responses: Record<string, ResponseTimes>
  /** Requests without a response */
  lost: number
  /** Failed connection attempts */
  unconnected: number
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
let unconnected = 0
let isOver = false
/** A response had `Connection: close`: the service is about to stop. */
let isLeaving = false

/** The status of a complete response; `null` if it is incomplete. */
function getStatus(response: string): string | null {
  const end = response.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(response.slice(0, end)) ?? []
  const isWhole =
    length === undefined
      ? response.endsWith('\r\n0\r\n\r\n')
      : response.length >= end + 4 + Number(length)
  return isWhole ? response.slice(9, 12) : null
}

function sendRequest(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let response = ''
    let sent = 0
    const send = (): void => {
      response = ''
      sent = performance.now()
      socket.write(request)
    }
    socket.setEncoding('latin1')
    socket.once('connect', send)
    socket.on('data', (part: string) => {
      response += part
      const status = getStatus(response)
      if (status === null) return
      const known = times.get(status) ?? []
      known.push(performance.now() - sent)
      times.set(status, known)
      isLeaving ||= /\r\nconnection: close\r\n/i.test(response)
      sent = 0
      if (isOver || isLeaving) socket.end()
      else send()
    })
    socket.on('error', () => (sent === 0 ? unconnected++ : undefined))
    socket.once('close', () => {
      if (sent > 0) lost++
      resolve()
    })
  })
}

async function client(): Promise<void> {
  while (!isOver && !isLeaving) await sendRequest()
}

function summed(all: number[]): ResponseTimes {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0)
  return { count: sorted.length, median: at(0.5), p99: at(0.99), longest: at(1) }
}

const clients = Array.from({ length: Number(connections) }, client)
setTimeout(() => (isOver = true), Number(seconds) * 1000)
await Promise.all(clients)
const responses = Object.fromEntries([...times].map(([status, all]) => [status, summed(all)]))
process.stdout.write(JSON.stringify({ responses, lost, unconnected } satisfies Load))
