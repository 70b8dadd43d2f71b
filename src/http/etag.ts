import { Problem } from './problem.js'

/** A list of entity tags, of which some may be empty (RFC 9110, 5.6.1 and 8.8.3). */
const TAGS = /^(?:[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?(?:,|$))+$/
const TAG = /(?:W\/)?"[^"]*"/g
const OURS = /^"([1-9]\d{0,14})"$/

/**
 * The versions that an If-Match header names; `null` where it is left out or `*`, as then each will do.
 * A tag that is no version of ours, or weak, never matches (RFC 9110, 13.1.1), so a list of such
 * names none. Throws a Problem (400) for what is no list of tags.
 */
export function parseIfMatch(ifMatch: string | undefined): number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  const tags = TAGS.test(ifMatch) ? ifMatch.match(TAG) : null
  if (tags === null) {
    throw new Problem(
      400,
      'If-Match must be an ETag as the order was answered with, in its quotes, such as "4"; several, separated by commas; or *.',
    )
  }
  return tags.flatMap((tag) => OURS.exec(tag)?.[1] ?? []).map(Number)
}

/** The ETag of a version. */
export const formatEtag = (version: number): string => `"${version}"`
