import { isIP } from 'node:net'
import { Agent, request } from 'undici'
import { createGuardedLookup, isPublicAddress } from '../core/http/public-address.js'

export interface ProjectImage {
  type: string
  bytes: Buffer
}

const MAX_BYTES = 1024 * 1024
const TIMEOUT_MS = 5_000
/** More pictures than portfolios are shown; the oldest one is dropped. */
const MAX_IMAGES = 60
const MAX_PARALLEL = 4
const FRESH_MS = 24 * 60 * 60_000
/** Pause before the next attempt after a failure */
const RETRY_MS = 10 * 60_000

/** Formats by their first bytes. SVG is not among them: it can contain scripts and links. */
const SIGNATURES: readonly [type: string, signature: RegExp][] = [
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/avif', /^.{4}ftypavi[fs]/s],
]

function toImage(bytes: Buffer): ProjectImage | null {
  const start = bytes.toString('latin1', 0, 16)
  const [type] = SIGNATURES.find(([, signature]) => signature.test(start)) ?? []
  return type === undefined ? null : { type, bytes }
}

/**
 * Whether a picture may be fetched from a URL: https without credentials, on a public address as
 * far as can be determined before the host is resolved; or the provider's own origin.
 */
function isAllowedUrl(text: string, provider: URL): boolean {
  const { origin, protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  if (hostname === provider.hostname) return origin === provider.origin
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return protocol === 'https:' && (isIP(host) === 0 || isPublicAddress(host))
}

/**
 * Fetches the pictures of projects, so that guests' browsers do not contact other sites, and keeps
 * them in memory. Fetches from public addresses only, and does not follow redirects.
 *
 * @param baseUrl of the provider, which may be on a private address
 */
export function createProjectImages(baseUrl: string) {
  const provider = new URL(baseUrl)
  const agent = new Agent({
    maxResponseSize: MAX_BYTES,
    connect: {
      lookup: createGuardedLookup((name) => name === provider.hostname),
      timeout: TIMEOUT_MS,
    },
  })
  const loaded = new Map<string, { image: ProjectImage | null; expiresAt: number }>()
  const loading = new Map<string, Promise<ProjectImage | null>>()

  async function fetchImage(url: string): Promise<ProjectImage | null> {
    if (!isAllowedUrl(url, provider)) return null
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const { statusCode, body } = await request(url, { dispatcher: agent, signal })
      const bytes = Buffer.from(await body.arrayBuffer())
      return statusCode === 200 ? toImage(bytes) : null
    } catch {
      return null
    }
  }

  function getLoaded(url: string) {
    const known = loaded.get(url)
    return known !== undefined && known.expiresAt > performance.now() ? known : null
  }

  async function load(url: string): Promise<ProjectImage | null> {
    const image = await fetchImage(url)
    loaded.delete(url)
    loaded.set(url, { image, expiresAt: performance.now() + (image ? FRESH_MS : RETRY_MS) })
    const [oldest] = loaded.keys()
    if (loaded.size > MAX_IMAGES && oldest !== undefined) loaded.delete(oldest)
    return image
  }

  /** Returns a picture; `null` if it cannot be shown. Concurrent callers share one request. */
  async function get(url: string): Promise<ProjectImage | null> {
    const known = getLoaded(url)
    if (known !== null) return known.image
    const pending = loading.get(url)
    if (pending !== undefined) return pending
    if (loading.size >= MAX_PARALLEL) return null
    const started = load(url).finally(() => loading.delete(url))
    loading.set(url, started)
    return started
  }

  return {
    get,
    /** Whether a picture can be shown now. If it is not known yet, starts to fetch it. */
    has(url: string): boolean {
      const known = getLoaded(url)
      if (known === null) void get(url)
      return known?.image != null
    },
    close: (): Promise<void> => agent.destroy(),
  }
}

export type ProjectImages = ReturnType<typeof createProjectImages>
