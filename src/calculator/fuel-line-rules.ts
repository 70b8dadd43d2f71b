import type { FieldError } from '../validation/field-errors.js'
import { ELECTRICITY } from './factors/editions.js'

/** Cross-field rules of a line: blends, certified values and electricity. */
export function findFuelLineErrors(line: Record<string, unknown>): FieldError[] {
  const { fuelType, unit, hvoPercent, certifiedGCo2ePerMj } = line
  const errors: FieldError[] = []
  const add = (path: string, message: string): void => void errors.push({ path, message })
  if (hvoPercent !== undefined && fuelType !== 'mgo')
    add('hvoPercent', 'is for marine gas oil only')
  if (certifiedGCo2ePerMj !== undefined && fuelType !== 'hvo' && hvoPercent === undefined) {
    add('certifiedGCo2ePerMj', 'is for HVO and its blends only')
  }
  for (const name of ['kgCo2ePerKwh', 'factorSource']) {
    const isGiven = line[name] !== undefined
    if (fuelType === ELECTRICITY && !isGiven) add(name, 'is required for electricity')
    if (fuelType !== ELECTRICITY && isGiven) add(name, 'is for electricity only')
  }
  if (fuelType === ELECTRICITY && unit !== undefined && unit !== 'kWh') {
    add('unit', 'must be kWh for electricity')
  }
  if (fuelType !== ELECTRICITY && unit === 'kWh') add('unit', 'is for electricity only')
  return errors
}
