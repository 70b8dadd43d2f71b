import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  isCalculatorType,
  type CalculatorType,
} from '../calculator/calculator-data.js'
import { readForm, type CalculatorForm } from '../calculator/calculator-form.js'
import { EXAMPLES } from '../calculator/examples.js'
import { parseNumber } from '../calculator/number-text.js'
import { checker } from '../calculator/vocabulary.js'
import type { FieldError } from '../validation/field-errors.js'
import { DEFAULT_IMAGE, QrCodeRequestSchema, type QrCodeRequest } from './qr-code-request.js'

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

export const exampleForm = (): QrTestForm => readQrTestForm(EXAMPLE)

const checkRequest = checker(QrCodeRequestSchema)

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** Paths of every field that may have an error, for the chosen calculator and the others. */
export const ERROR_PATHS: readonly string[] = [
  ...OTHER_FIELDS,
  ...CALCULATOR_TYPES.flatMap((type) =>
    Object.keys(CALCULATOR_DATA[type].properties).map((name) => `${type}.${name}`),
  ),
]

/** Points an error of the request at the page's field: `calculatorData.unit` is `fuel.unit` there. */
export const fieldOf = (type: CalculatorType, { path, message }: FieldError): [string, string] => [
  path.replace(/^calculatorData\./, `${type}.`),
  message,
]

function integerOr(text: string): unknown {
  const parsed = parseNumber(text)
  return parsed.ok ? parsed.value : text
}

export function readQrTestForm(query: Query): QrTestForm {
  const asked = textOf(query.calculatorType)
  const calculatorType = isCalculatorType(asked) ? asked : 'fuel'
  const values = Object.fromEntries(
    OTHER_FIELDS.map((name) => [name, textOf(query[name])]),
  ) as QrTestForm['values']
  values['image.errorCorrection'] ||= DEFAULT_IMAGE.errorCorrection
  const calculators = Object.fromEntries(
    CALCULATOR_TYPES.map((type) => [type, readForm(type, query, `${type}.`)]),
  ) as Record<CalculatorType, CalculatorForm>

  const chosen = calculators[calculatorType]
  const image = {
    ...(values['image.size'] ? { size: integerOr(values['image.size']) } : {}),
    ...(values['image.margin'] ? { margin: integerOr(values['image.margin']) } : {}),
    ...(values['image.errorCorrection']
      ? { errorCorrection: values['image.errorCorrection'] }
      : {}),
  }
  const checked = checkRequest({
    calculatorType,
    // Its own form has told already what is wrong with it; an example keeps the rest checked.
    calculatorData: (chosen.calculation ?? EXAMPLES[calculatorType]).calculatorData,
    vessel: {
      name: values['vessel.name'],
      ...(values['vessel.imoNumber'] ? { imoNumber: values['vessel.imoNumber'] } : {}),
    },
    image,
  })
  const errors: Record<string, string> = {}
  for (const name of chosen.missing) errors[`${calculatorType}.${name}`] = 'must be filled in'
  for (const [name, message] of Object.entries(chosen.errors)) {
    errors[`${calculatorType}.${name}`] = message
  }
  if (!checked.ok) {
    for (const error of checked.errors) errors[error.path] = error.message
  }
  const sound = checked.ok && chosen.calculation !== null
  return { calculatorType, calculators, values, errors, request: sound ? checked.value : null }
}
