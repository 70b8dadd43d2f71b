import { Type } from '@sinclair/typebox'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  isCalculatorType,
  type CalculatorType,
} from '../calculator/calculator-data.js'
import { parseCalculatorForm, type CalculatorForm } from '../calculator/calculator-form.js'
import { EXAMPLES } from '../calculator/examples.js'
import { parseNumber } from '../calculator/number-format.js'
import { Vessel } from '../calculator/vessel.js'
import { checker } from '../calculator/trip-schemas.js'
import { lazy } from '../lazy.js'
import type { FieldError } from '../validation/field-errors.js'
import { DEFAULT_IMAGE, ImageOptions, type QrCodeRequest } from './qr-code-request.js'

type Query = Record<string, unknown>

/** The QR test page's form as a person filled it in. Fields are named by their path in the request. */
export interface QrTestForm {
  calculatorType: CalculatorType
  /** Each calculator's own fields, the unchosen ones kept as well */
  calculators: Record<CalculatorType, CalculatorForm>
  values: Record<(typeof OTHER_FIELDS)[number], string>
  /** By the path of the request */
  errors: Record<string, string>
  /** The request, once all is well */
  request: QrCodeRequest | null
}

const OTHER_FIELDS = [
  'vessel.name',
  'vessel.imoNumber',
  'image.size',
  'image.margin',
  'image.errorCorrection',
] as const

/** What the page starts with: trips that make a code at the first press of the button. */
const EXAMPLE: Query = {
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

/** All of a request but the calculation, whose own form checks it. */
const checkRest = checker(Type.Object({ vessel: Vessel, image: Type.Partial(ImageOptions) }))

const BLANK = 'must be filled in'

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** Paths of every field that may have an error, for the chosen calculator and the others. */
export const ERROR_PATHS: readonly string[] = [
  ...OTHER_FIELDS,
  ...CALCULATOR_TYPES.flatMap((type) =>
    Object.keys(CALCULATOR_DATA[type].properties).map((name) => `${type}.${name}`),
  ),
]

/** Points an error of the request at the page's field: `calculatorData.unit` is `fuel.unit` there. */
export const getFieldName = (
  type: CalculatorType,
  { path, message }: FieldError,
): [string, string] => [path.replace(/^calculatorData\./, `${type}.`), message]

/** The number that a text is, or the text, for the check to refuse. */
function numberOr(text: string): unknown {
  const parsed = parseNumber(text)
  return parsed.ok ? parsed.value : text
}

/** Reads the submitted form. What is wrong stands in `errors`, and nothing typed is lost. */
export function parseQrTestForm(query: Query): QrTestForm {
  const asked = textOf(query.calculatorType)
  const calculatorType = isCalculatorType(asked) ? asked : 'fuel'
  const values = Object.fromEntries(
    OTHER_FIELDS.map((name) => [name, textOf(query[name])]),
  ) as QrTestForm['values']
  values['image.errorCorrection'] ||= DEFAULT_IMAGE.errorCorrection
  const calculators = Object.fromEntries(
    CALCULATOR_TYPES.map((type) => [type, parseCalculatorForm(type, query, `${type}.`)]),
  ) as Record<CalculatorType, CalculatorForm>

  const image = {
    ...(values['image.size'] ? { size: numberOr(values['image.size']) } : {}),
    ...(values['image.margin'] ? { margin: numberOr(values['image.margin']) } : {}),
    errorCorrection: values['image.errorCorrection'],
  }
  const imoNumber = values['vessel.imoNumber']
  const vessel = { name: values['vessel.name'], ...(imoNumber ? { imoNumber } : {}) }
  const checked = checkRest({ vessel, image })

  const { calculation, missing, errors: wrong } = calculators[calculatorType]
  const errors = Object.fromEntries([
    ...missing.map((name) => [`${calculatorType}.${name}`, BLANK]),
    ...Object.entries(wrong).map(([name, message]) => [`${calculatorType}.${name}`, message]),
    ...(checked.ok ? [] : checked.errors.map(({ path, message }) => [path, message])),
    ...(vessel.name === '' ? [['vessel.name', BLANK]] : []),
  ]) as Record<string, string>
  const request = checked.ok && calculation ? { ...calculation, ...checked.value } : null
  return { calculatorType, calculators, values, errors, request }
}

/** The form as the page shows it first. */
export const getExampleForm = lazy(() => parseQrTestForm(EXAMPLE))
