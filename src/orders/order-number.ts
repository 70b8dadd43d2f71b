import { isTextLine } from '../validation/text-line.js'

/** Whether a text may number an order: a line with nothing around it that makes two look alike. */
export const isOrderNumber = (text: string): boolean => isTextLine(text) && text.trim() === text
