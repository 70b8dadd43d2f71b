import { isTextLine } from '../validation/text-line.js'

/** Whether a text is a valid order number: one line without surrounding whitespace. */
export const isOrderNumber = (text: string): boolean => isTextLine(text) && text.trim() === text
