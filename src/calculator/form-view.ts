import type { NumberFormatter } from '../formatting/number-formatter.js'
import {
  AMOUNT_UNITS,
  CONSUMPTION_UNITS,
  DISTANCE_UNITS,
  QUANTITY_UNITS,
  type CalculatorType,
} from './calculator-data.js'
import type { CalculatorForm } from './calculator-form.js'
import { FUEL_TYPES, FUELS } from './emission-factors.js'
import { UNIT_NAMES } from './units.js'

export const CALCULATOR_NAMES: Record<CalculatorType, { title: string; summary: string }> = {
  fuel: { title: 'Fuel', summary: 'You know how much fuel was burnt.' },
  distance: {
    title: 'Distance',
    summary: 'You know the distance, the speed and the fuel consumption.',
  },
  custom: {
    title: 'Custom amount',
    summary: 'You already know the kilograms or tonnes of CO₂e.',
  },
}

/** Field labels, in the order of the forms. */
export const FIELD_NAMES: Record<string, string> = {
  distance: 'Distance',
  distanceUnit: 'Distance unit',
  speedKn: 'Average speed',
  fuelType: 'Fuel',
  quantity: 'Quantity burnt',
  amount: 'Amount of CO₂e',
  unit: 'Unit',
  consumption: 'Fuel consumption',
  consumptionUnit: 'Fuel consumption unit',
  referenceSpeedKn: 'Reference speed',
  generatorLitresPerHour: 'Generator consumption',
  generatorHours: 'Generator hours',
  description: 'Description',
}

interface Option {
  value: string
  label: string
}

const toUnitOptions = (units: readonly (keyof typeof UNIT_NAMES)[]): Option[] =>
  units.map((value) => ({ value, label: UNIT_NAMES[value] }))

/** The options of each select field. */
export const CHOICES: Record<string, Option[]> = {
  fuelType: FUEL_TYPES.map((value) => ({ value, label: FUELS[value].name })),
  quantityUnit: toUnitOptions(QUANTITY_UNITS),
  distanceUnit: toUnitOptions(DISTANCE_UNITS),
  consumptionUnit: toUnitOptions(CONSUMPTION_UNITS),
  amountUnit: toUnitOptions(AMOUNT_UNITS),
}

/** Writes the limits in a validation message in the user's locale: `must be at most 10,000,000`. */
export const localizeLimits = (message: string, { exact }: NumberFormatter): string =>
  message.replace(/(?<=\b(?:at most|at least|than|between|and|trip at) )\d+(?:\.\d+)?/g, (limit) =>
    exact(Number(limit)),
  )

const getLabel = (field: string): string => FIELD_NAMES[field] ?? field

const FIELD_ORDER = Object.keys(FIELD_NAMES)
const sortByFormOrder = (fields: string[]): string[] =>
  fields.toSorted((a, b) => FIELD_ORDER.indexOf(a) - FIELD_ORDER.indexOf(b))

/** A label within a sentence: `average speed`. */
const toSentenceLabel = (field: string): string => {
  const label = getLabel(field)
  return label.charAt(0).toLowerCase() + label.slice(1)
}

/** The error of a required field that is blank: `enter the average speed`. */
export const describeMissingField = (field: string): string => `enter the ${toSentenceLabel(field)}`

/** @param showMissing whether blank required fields count as errors */
export function buildFormView(
  form: CalculatorForm,
  numbers: NumberFormatter,
  showMissing: boolean,
) {
  const errors: Record<string, string> = {}
  for (const [name, message] of Object.entries(form.errors)) {
    errors[name] = localizeLimits(message, numbers)
  }
  if (showMissing) for (const name of form.missing) errors[name] = describeMissingField(name)
  return {
    names: FIELD_NAMES,
    values: form.values,
    errors,
    invalid: sortByFormOrder(Object.keys(errors)).map((field) => ({
      field,
      name: getLabel(field),
      message: errors[field],
    })),
    missing: sortByFormOrder(form.missing).map(toSentenceLabel),
  }
}
