import { Problem } from './problem.js'

/** A list of entity tags with optional empty elements (RFC 9110, sections 5.6.1 and 8.8.3). */
const TAGS = /^(?:[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?(?:,|$))+$/
const TAG = /(?:W\/)?"[^"]*"/g
const VERSION_TAG = /^(?:W\/)?"([1-9]\d{0,14})"$/

/**
 * Parses If-Match into the versions it lists; `null` if it is missing or `*`. Unknown tags are left
 * out. Weak tags count, unlike in RFC 9110, section 13.1.1, because proxies that compress a response
 * weaken its tag. Throws a Problem (400) if it is malformed.
 */
export function parseIfMatch(ifMatch: string | undefined): number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  const tags = TAGS.test(ifMatch) ? ifMatch.match(TAG) : null
  if (tags === null) {
    throw new Problem(
      400,
      'If-Match must be one or more ETags in quotes, separated by commas, such as "4", or *.',
    )
  }
  return tags.flatMap((tag) => VERSION_TAG.exec(tag)?.[1] ?? []).map(Number)
}

export const formatEtag = (version: number): string => `"${version}"`
