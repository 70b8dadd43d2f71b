import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './password.js'

/** A password that only repeats a part shorter than this is a pattern, such as “1qaz1qaz1qaz”. */
const MIN_UNIT_LENGTH = 5
/** Shorter names are part of many passwords. */
const MIN_NAME_LENGTH = 4

let commonPasswords: Promise<ReadonlySet<string>> | undefined

/** Loaded when the first password is set: it takes a few megabytes. */
function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  commonPasswords ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common']),
  )
  return commonPasswords
}

/** A password without digits and symbols around it, such as “sunshine” in “sunshine2024!” */
const getCore = (password: string): string => password.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')

/** The shortest part that a password repeats, such as “hello” in “hellohello” */
const getUnit = (password: string): string => /^(.+?)\1*$/su.exec(password)?.[1] ?? password

async function isCommon(password: string): Promise<boolean> {
  const common = await loadCommonPasswords()
  const core = getCore(password)
  const isMostlyCore = core.length * 2 >= password.length
  const candidates = [password, getUnit(password), ...(isMostlyCore ? [core, getUnit(core)] : [])]
  return candidates.some((text) => common.has(text)) || getUnit(password).length < MIN_UNIT_LENGTH
}

/**
 * Checks a new password (NIST SP 800-63B, section 3.1.1.2): its length, and whether it is easy to
 * guess. Any characters are allowed. Returns why it is refused, or `null`.
 *
 * @param email of the account
 */
export async function findPasswordError(password: string, email: string): Promise<string | null> {
  if (password.length < MIN_PASSWORD_LENGTH)
    return `must have at least ${MIN_PASSWORD_LENGTH} characters`
  if (password.length > MAX_PASSWORD_LENGTH) {
    return `must have at most ${MAX_PASSWORD_LENGTH} characters`
  }
  const text = password.toLowerCase().normalize('NFC')
  const [name = ''] = email.toLowerCase().split('@')
  if (text.includes('clearwake')) return 'must not contain “clearwake”'
  if (name.length >= MIN_NAME_LENGTH && text.includes(name)) {
    return 'must not contain the name in your email address'
  }
  return (await isCommon(text)) ? 'is too common: choose one that is harder to guess' : null
}
