/** Where the order source is reached at this service. */
export const MOUNT = '/api/ordersource'

const MOUNT_SEGMENTS = MOUNT.split('/')

/** The usual: no escapes, and nothing in a segment but letters, digits and what joins them. */
const USUAL = new RegExp(`^${MOUNT}((?:/[\\w-]+)+)$`)

/** What an address may consist of on the wire; the rest of ASCII, and all beyond it, must be escaped. */
const ADDRESS = /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/

/** What could part or end a path for whoever reads it next, or be an escape once more. */
const AMBIGUOUS = /[/\\;?#%\p{Cc}\p{Zl}\p{Zp}]/u

/** `.` and `..`, what some systems take for them, and what begins or ends like them. */
const DOTS = /^[. ]+$|^\.\.|\.\.$/

function decodedSegment(segment: string): string | null {
  try {
    return segment.includes('%') ? decodeURIComponent(segment) : segment
  } catch {
    return null
  }
}

// Some systems fold look-alikes, such as a full-width slash, into what they look like.
const isPlain = (segment: string): boolean =>
  [segment, segment.normalize('NFKC')].every((text) => !AMBIGUOUS.test(text) && !DOTS.test(text))

/**
 * The path below the order source's base that an address asks for, decoded; `null` where it is
 * written so that two readers could see two paths in it: dot segments, empty segments, separators
 * and escapes that are escaped, at any depth.
 *
 * @param address as it came over the wire, not normalised by anybody
 */
export function toUpstreamPath(address: string): string | null {
  const query = address.indexOf('?')
  const path = query < 0 ? address : address.slice(0, query)
  const [, usual] = USUAL.exec(path) ?? []
  if (address.includes('#')) return null
  if (usual !== undefined) return usual
  if (!ADDRESS.test(path)) return null
  const segments = path.split('/')
  const decoded: string[] = []
  for (const [index, segment] of segments.entries()) {
    const text = decodedSegment(segment)
    if (text === null) return null
    const mayBeEmpty = index === 0 || (index === segments.length - 1 && index > 2)
    if (text === '' ? !mayBeEmpty : !isPlain(text)) return null
    decoded.push(text)
  }
  if (MOUNT_SEGMENTS.some((segment, index) => decoded[index] !== segment)) return null
  return `/${decoded.slice(MOUNT_SEGMENTS.length).join('/')}`
}
