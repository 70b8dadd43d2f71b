import type { ValidationResult } from '../validation/validator.js'
import {
  CALCULATOR_DATA,
  type Calculation,
  type CalculatorDataByType,
  type CalculatorType,
} from './calculator-data.js'
import { checker } from './trip-schemas.js'

type Checks = {
  [T in CalculatorType]: (value: unknown) => ValidationResult<CalculatorDataByType[T]>
}

const checks: Checks = {
  fuel: checker(CALCULATOR_DATA.fuel),
  distance: checker(CALCULATOR_DATA.distance),
  custom: checker(CALCULATOR_DATA.custom),
}

/** Tells whether data are those of a calculator and, if not, everything wrong with them. */
export function validateCalculation(
  calculatorType: CalculatorType,
  calculatorData: unknown,
): ValidationResult<Calculation> {
  const checked = checks[calculatorType](calculatorData)
  return checked.ok
    ? { ok: true, value: { calculatorType, calculatorData: checked.value } as Calculation }
    : checked
}
