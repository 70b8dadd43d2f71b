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

/** What people call the calculators. */
export const CALCULATOR_NAMES: Record<CalculatorType, { title: string; summary: string }> = {
  fuel: { title: 'Fuel', summary: 'You know how much fuel was burnt.' },
  distance: {
    title: 'Distance',
    summary: 'You know the distance, the speed and what the engines use.',
  },
  custom: { title: 'Custom amount', summary: 'You know the kilograms or tonnes of CO₂e already.' },
}

/** What the fields are called, in their labels and away from them; in the order of the forms. */
export const FIELD_NAMES: Record<string, string> = {
  distance: 'Distance',
  distanceUnit: 'Unit of the distance',
  speedKn: 'Mean speed',
  fuelType: 'Fuel',
  quantity: 'Quantity burnt',
  amount: 'Amount of CO₂e',
  unit: 'Unit',
  consumption: 'Consumption of the engines',
  consumptionUnit: 'Unit of the consumption',
  referenceSpeedKn: 'Speed of that consumption',
  generatorLitresPerHour: 'Generators use',
  generatorHours: 'Generators ran for',
  description: 'What it stands for',
}

interface Option {
  value: string
  label: string
}

const units = (ids: readonly (keyof typeof UNIT_NAMES)[]): Option[] =>
  ids.map((value) => ({ value, label: UNIT_NAMES[value] }))

/** The choices of each select field. */
export const CHOICES: Record<string, Option[]> = {
  fuelType: FUEL_TYPES.map((value) => ({ value, label: FUELS[value].name })),
  quantityUnit: units(QUANTITY_UNITS),
  distanceUnit: units(DISTANCE_UNITS),
  consumptionUnit: units(CONSUMPTION_UNITS),
  amountUnit: units(AMOUNT_UNITS),
}

/** Bounds are written in English; on pages their digits are grouped as all others are. */
const grouped = (message: string): string => message.replace(/(?<=\d),(?=\d{3})/g, '\u202f')

const nameOf = (field: string): string => FIELD_NAMES[field] ?? field

const PLACES = Object.keys(FIELD_NAMES)
const inFormOrder = (fields: string[]): string[] =>
  fields.toSorted((a, b) => PLACES.indexOf(a) - PLACES.indexOf(b))

/** A name as it stands in a sentence; what is written in capitals stays so. */
const inText = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

/** What a form's template needs: a message for each field, blank ones included where asked. */
export function buildFormView(form: CalculatorForm, nameMissing: boolean) {
  const errors: Record<string, string> = {}
  for (const [name, message] of Object.entries(form.errors)) errors[name] = grouped(message)
  if (nameMissing) for (const name of form.missing) errors[name] = 'must be filled in'
  return {
    names: FIELD_NAMES,
    values: form.values,
    errors,
    wrong: inFormOrder(Object.keys(errors)).map((field) => ({
      field,
      name: nameOf(field),
      message: errors[field],
    })),
    missing: inFormOrder(form.missing).map((name) => inText(nameOf(name))),
  }
}
