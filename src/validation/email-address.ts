import { isTextLine } from './text-line.js'

/** Excludes characters with a meaning in address lists and in ADMIN_ACCOUNTS. */
const EMAIL = /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,255}$/u

const MISPLACED_DOT = /^\.|\.\.|\.@|@\.|\.$/

/** Whether a string is a single email address without a display name. */
export const isEmail = (text: string): boolean =>
  EMAIL.test(text) && !MISPLACED_DOT.test(text) && isTextLine(text)
