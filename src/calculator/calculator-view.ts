import {
  AMOUNT_UNITS,
  CONSUMPTION_UNITS,
  DISTANCE_UNITS,
  QUANTITY_UNITS,
  type CalculatorType,
} from './calculator-data.js'
import type { CalculatorForm } from './calculator-form.js'
import { FUEL_TYPES, FUELS } from './emission-factors.js'
import { UNIT_NAMES, UNIT_SYMBOLS } from './units.js'

/** What people call the calculators. */
export const CALCULATOR_NAMES: Record<CalculatorType, { title: string; summary: string }> = {
  fuel: { title: 'Fuel', summary: 'You know how much fuel was burnt.' },
  distance: {
    title: 'Distance',
    summary: 'You know how far and how fast, and what the engines use.',
  },
  custom: { title: 'Custom amount', summary: 'You know the kilograms or tonnes of CO2e already.' },
}

/** How fields are named in messages away from the field. */
const FIELD_NAMES: Record<string, string> = {
  fuelType: 'fuel',
  quantity: 'quantity',
  distance: 'distance',
  speedKn: 'speed',
  consumption: 'consumption',
  amount: 'amount',
}

interface Option {
  value: string
  label: string
  title?: string
}

const units = (ids: readonly (keyof typeof UNIT_SYMBOLS)[]): Option[] =>
  ids.map((value) => ({ value, label: UNIT_SYMBOLS[value], title: UNIT_NAMES[value] }))

/** The choices of each select field. */
export const CHOICES: Record<string, Option[]> = {
  fuelType: FUEL_TYPES.map((value) => ({ value, label: FUELS[value].name })),
  quantityUnit: units(QUANTITY_UNITS),
  distanceUnit: units(DISTANCE_UNITS),
  consumptionUnit: units(CONSUMPTION_UNITS),
  amountUnit: units(AMOUNT_UNITS),
}

/** What a form's template needs: a message for each field, blank ones included where asked. */
export function formView(form: CalculatorForm, nameMissing: boolean) {
  const errors = { ...form.errors }
  if (nameMissing) for (const name of form.missing) errors[name] = 'must be filled in'
  return {
    values: form.values,
    errors,
    missing: form.missing.map((name) => FIELD_NAMES[name] ?? name),
  }
}
