import { Type, type StringOptions } from '@sinclair/typebox'

/** A schema for one line of text in any script, with something to read in it. */
export const textLine = (options: StringOptions) =>
  Type.String({ minLength: 1, format: 'text-line', ...options })
