import { Type } from '@sinclair/typebox'

/** Schema for one of several strings; reports one error, not one per literal as a union does. */
export const stringEnum = <T extends string>(values: readonly T[], options: object = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })
