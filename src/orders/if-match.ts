/**
 * The versions that an If-Match header names; `null` where it is left out or `*`: any will do.
 * A weak tag never matches (RFC 9110, 13.1.1), nor does one that is not a version of ours.
 */
export function versionsOf(ifMatch: string | undefined): number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  return ifMatch.split(',').flatMap((tag) => {
    const version = /^\s*"(\d{1,15})"\s*$/.exec(tag)?.[1]
    return version === undefined ? [] : [Number(version)]
  })
}

/** The ETag of a version. */
export const etagOf = (version: number): string => `"${version}"`
