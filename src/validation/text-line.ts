import { Type, type StringOptions } from '@sinclair/typebox'
import { findTextLineError } from './text-rules.js'

/** Whether a text is one line in any script, with something to read in it. */
export const isTextLine = (text: string): boolean => findTextLineError(text) === null

/** A schema for such a line. */
export const textLine = (options: StringOptions) =>
  Type.String({ minLength: 1, format: 'text-line', ...options })
