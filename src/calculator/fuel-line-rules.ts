import type { FieldError } from '../core/validation/field-errors.js'
import { CERTIFIABLE } from './calculator-data.js'
import { ELECTRICITY } from './factors/editions.js'

type AddError = (path: string, message: string) => void

/** Cross-field rules of a line: blends, certified values and electricity. */
export function findFuelLineErrors(line: Record<string, unknown>): FieldError[] {
  const { fuelType, unit, hvoPercent } = line
  const errors: FieldError[] = []
  const add: AddError = (path, message) => void errors.push({ path, message })
  if (hvoPercent !== undefined && fuelType !== 'mgo')
    add('hvoPercent', 'is for marine gas oil only')
  checkCertificate(line, add)
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

function checkCertificate(line: Record<string, unknown>, add: AddError): void {
  const { fuelType, hvoPercent, certifiedGCo2ePerMj, certifiedAs } = line
  if (certifiedGCo2ePerMj === undefined) {
    if (fuelType === 'fame') {
      add('certifiedGCo2ePerMj', 'is required for FAME, whose emissions depend on its origin')
    }
    for (const name of ['certifiedAs', 'certificateReference']) {
      if (line[name] !== undefined) add(name, 'is for certified values only')
    }
    return
  }
  const kinds = CERTIFIABLE.get(hvoPercent === undefined ? fuelType : 'hvo')
  if (kinds === undefined) {
    add('certifiedGCo2ePerMj', 'is for HVO and its blends, FAME, methanol and LNG only')
  } else if (certifiedAs === undefined && kinds.length > 1) {
    add('certifiedAs', 'is required: bio for a biofuel, rfnbo for an e-fuel')
  } else if (certifiedAs === 'rfnbo' && !kinds.includes(certifiedAs)) {
    add('certifiedAs', 'must be bio for HVO and FAME')
  }
}
