import { Type } from '@sinclair/typebox'

/** Schema for one of several strings: gives one error, where a union of literals gives one each. */
export const stringEnum = <T extends string>(values: readonly T[], options: object = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })
