import type { CalculatorType } from '../../src/calculator/calculator-data.js'
import { createSigner } from '../../src/core/config/secrets.js'
import { SECRET } from './app.js'

/** Signs the data of a link, as every release must. */
export const signLink = (type: CalculatorType, data: string, secret = SECRET): string =>
  createSigner([secret], 'prefill link v1').sign(`${type}\n${data}`)
