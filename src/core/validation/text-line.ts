import { Type, type StringOptions } from '@sinclair/typebox'
import { findTextLineError } from './text-rules.js'

/** Whether a string is one line with at least one visible character, in any script. */
export const isTextLine = (text: string): boolean => findTextLineError(text) === null

/** Schema for a single line of text. */
export const textLine = (options: StringOptions) =>
  Type.String({ minLength: 1, format: 'text-line', 'x-remove-invisible': true, ...options })
