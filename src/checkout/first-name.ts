/** First words that are not a given name */
const NOT_A_NAME = /^(?:an?|the|mrs?|ms|miss|dr|prof|capt|captain|sir|herr|frau|sra?|mme|mlle)$/i

/** Scripts of languages that mostly write the given name first. */
const GIVEN_NAME = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{M}'’-]{2,20}$/u

/** The name to greet a person by; `null` if it is uncertain or too long for a headline. */
export function getFirstName(name: string): string | null {
  const [first = ''] = name.trim().split(/\s+/)
  return GIVEN_NAME.test(first) && !NOT_A_NAME.test(first) ? first : null
}
