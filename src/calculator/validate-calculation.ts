import type { ValidationResult } from '../core/validation/validator.js'
import {
  CALCULATOR_DATA,
  type Calculation,
  type CalculatorDataByType,
  type CalculatorType,
} from './calculator-data.js'
import { checker } from './trip-schemas.js'

type Validators = {
  [T in CalculatorType]: (value: unknown) => ValidationResult<CalculatorDataByType[T]>
}

const validators: Validators = {
  fuel: checker(CALCULATOR_DATA.fuel),
  distance: checker(CALCULATOR_DATA.distance),
  custom: checker(CALCULATOR_DATA.custom),
}

/** Validates a calculator's data; on failure returns every field error. */
export function validateCalculation(
  calculatorType: CalculatorType,
  calculatorData: unknown,
): ValidationResult<Calculation> {
  const result = validators[calculatorType](calculatorData)
  return result.ok
    ? { ok: true, value: { calculatorType, calculatorData: result.value } as Calculation }
    : result
}
