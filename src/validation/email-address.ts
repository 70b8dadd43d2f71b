import { isTextLine } from './text-line.js'

/** What has a meaning of its own in lists of addresses, and in ours of accounts. */
const EMAIL = /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,255}$/u

const MISPLACED_DOT = /^\.|\.\.|\.@|@\.|\.$/

/** Whether a text is one e-mail address, without a name; whether it exists only a letter tells. */
export const isEmail = (text: string): boolean =>
  EMAIL.test(text) && !MISPLACED_DOT.test(text) && isTextLine(text)
