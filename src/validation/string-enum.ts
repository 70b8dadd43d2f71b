import { Type } from '@sinclair/typebox'

/** A schema for one of some texts: one error, where a union of literals would give one for each. */
export const stringEnum = <T extends string>(values: readonly T[], options: object = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })
