import { Type } from '@sinclair/typebox'
import {
  CALCULATOR_TYPES,
  isCalculatorType,
  type CalculatorType,
} from '../calculator/calculator-data.js'
import { parseCalculatorForm, type CalculatorForm } from '../calculator/calculator-form.js'
import { EXAMPLES } from '../calculator/example-trips.js'
import { describeMissingField, listFieldNames } from '../calculator/form-view.js'
import { checker } from '../calculator/validate-calculation.js'
import { Vessel } from '../calculator/vessel.js'
import { parseNumber } from '../core/formatting/number-input.js'
import { toTrimmedText } from '../core/validation/form-text.js'
import { DEFAULT_IMAGE, ImageOptions, type QrCodeRequest } from './qr-code-schemas.js'

type Query = Record<string, unknown>

/** The form of the QR test page. Fields are named by their path: `vessel.name`, `fuel.unit`. */
export interface QrTestForm {
  calculatorType: CalculatorType
  /** The fields of every calculator, including those not selected */
  calculators: Record<CalculatorType, CalculatorForm>
  values: Record<(typeof COMMON_FIELDS)[number], string>
  /** By field name */
  errors: Record<string, string>
  /** The request, if every field is valid */
  request: QrCodeRequest | null
}

const COMMON_FIELDS = [
  'vessel.name',
  'vessel.imoNumber',
  'image.size',
  'image.margin',
  'image.errorCorrection',
] as const

/** The names of every field on the page that can have an error. */
export const listErrorPaths = ({ calculators }: QrTestForm): string[] => [
  ...COMMON_FIELDS,
  ...CALCULATOR_TYPES.flatMap((type) =>
    listFieldNames(type, calculators[type].lines).map((name) => `${type}.${name}`),
  ),
]

/** The form field of a request path: `calculatorData.unit` is `fuel.unit` in the form. */
export const toFormPath = (type: CalculatorType, path: string): string =>
  path.replace(/^calculatorData\./, `${type}.`)

/** Validates everything but the calculation, which its own form validates. */
const validateRest = checker(Type.Object({ vessel: Vessel, image: Type.Partial(ImageOptions) }))

/** The parsed number, or the text itself, which validation then rejects. */
function toNumber(text: string): unknown {
  const parsed = parseNumber(text)
  return parsed.ok ? parsed.value : text
}

/** Parses the submitted form; invalid values are kept, with an error for each. */
export function parseQrTestForm(query: Query, decimalSign?: '.'): QrTestForm {
  const selected = toTrimmedText(query.calculatorType)
  const calculatorType = isCalculatorType(selected) ? selected : 'fuel'
  const values = Object.fromEntries(
    COMMON_FIELDS.map((name) => [name, toTrimmedText(query[name])]),
  ) as QrTestForm['values']
  values['image.errorCorrection'] ||= DEFAULT_IMAGE.errorCorrection
  const calculators = Object.fromEntries(
    CALCULATOR_TYPES.map((type) => [
      type,
      parseCalculatorForm(type, query, { prefix: `${type}.`, decimalSign }),
    ]),
  ) as Record<CalculatorType, CalculatorForm>

  const image = {
    ...(values['image.size'] ? { size: toNumber(values['image.size']) } : {}),
    ...(values['image.margin'] ? { margin: toNumber(values['image.margin']) } : {}),
    errorCorrection: values['image.errorCorrection'],
  }
  const imoNumber = values['vessel.imoNumber']
  const vessel = { name: values['vessel.name'], ...(imoNumber ? { imoNumber } : {}) }
  const rest = validateRest({ vessel, image })

  const { calculation, missing, errors: fieldErrors } = calculators[calculatorType]
  const errors: Record<string, string> = {}
  for (const name of missing) errors[`${calculatorType}.${name}`] = describeMissingField(name)
  for (const [name, message] of Object.entries(fieldErrors)) {
    errors[`${calculatorType}.${name}`] = message
  }
  if (!rest.ok) for (const { path, message } of rest.errors) errors[path] = message
  if (vessel.name === '') errors['vessel.name'] = 'enter the vessel name'
  const request = rest.ok && calculation ? { ...calculation, ...rest.value } : null
  return { calculatorType, calculators, values, errors, request }
}

const EXAMPLE_QUERY: Query = {
  'vessel.name': 'Eendracht',
  'vessel.imoNumber': '8814275',
  'image.size': String(DEFAULT_IMAGE.size),
  'image.margin': String(DEFAULT_IMAGE.margin),
  'image.errorCorrection': DEFAULT_IMAGE.errorCorrection,
  ...Object.fromEntries(
    Object.values(EXAMPLES).flatMap(({ calculatorType, calculatorData }) =>
      Object.entries(calculatorData).map(([name, value]) => [
        `${calculatorType}.${name}`,
        String(value),
      ]),
    ),
  ),
}

/** The initial form, filled in with trips that are valid without changes. */
export const getExampleForm = (): QrTestForm => parseQrTestForm(EXAMPLE_QUERY)

/** The initial form for staff is empty, because an example could end up on a label. */
export const getEmptyForm = (): QrTestForm => parseQrTestForm({ calculatorType: 'fuel' })
