import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses } from '../plugins/problem.js'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  type Calculation,
} from './calculator-data.js'
import { DATASET, FUEL_TYPES, FUELS } from './emission-factors.js'
import { estimate } from './estimate.js'
import { FACTORS } from './fuel-emissions.js'

const nullableNumber = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description })

const FactorSchema = Type.Object(
  {
    name: Type.String(),
    value: Type.Number(),
    unit: Type.String(),
    source: Type.String({ description: 'Where the number is published' }),
  },
  { title: 'Emission factor' },
)

export const EstimateSchema = Type.Object(
  {
    calculatorType: CalculatorTypeSchema,
    co2eKg: Type.Number({ description: 'Well-to-wake, kg CO2e' }),
    wellToTankCo2eKg: nullableNumber('Of which making and moving the fuel, kg CO2e'),
    tankToWakeCo2eKg: nullableNumber('Of which burning the fuel, kg CO2e'),
    fuelLitres: nullableNumber('Fuel burnt, litres'),
    fuelKg: nullableNumber('Fuel burnt, kg'),
    hours: nullableNumber('Time under way, hours'),
    method: Type.String({ description: 'How the result comes about' }),
    factors: Type.Array(FactorSchema, { description: 'Every published number used' }),
    dataset: Type.String({ description: 'The set of factors' }),
  },
  { title: 'Estimate' },
)

const CatalogueSchema = Type.Object(
  {
    calculators: Type.Array(
      Type.Object({
        calculatorType: CalculatorTypeSchema,
        title: Type.String(),
        schema: Type.Object(
          {},
          { additionalProperties: true, description: 'JSON Schema of the data' },
        ),
      }),
    ),
    fuels: Type.Array(
      Type.Object({
        fuelType: Type.String(),
        name: Type.String(),
        factors: Type.Array(FactorSchema),
      }),
    ),
    dataset: Type.String(),
  },
  { title: 'Calculators' },
)

const catalogue = {
  calculators: CALCULATOR_TYPES.map((calculatorType) => {
    const schema = CALCULATOR_DATA[calculatorType]
    return { calculatorType, title: schema.title ?? calculatorType, schema }
  }),
  fuels: FUEL_TYPES.map((fuelType) => ({
    fuelType,
    name: FUELS[fuelType].name,
    factors: FACTORS[fuelType],
  })),
  dataset: DATASET,
}

/** Trip data are small; nobody needs more. */
const BODY_LIMIT = 16 * 1024

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/calculators',
    {
      schema: {
        tags: ['Calculators'],
        summary: 'List calculators, fuels and emission factors',
        response: { 200: CatalogueSchema, ...problemResponses },
      },
    },
    async () => catalogue,
  )

  for (const calculatorType of CALCULATOR_TYPES) {
    app.post(
      `/api/calculators/${calculatorType}/estimate`,
      {
        bodyLimit: BODY_LIMIT,
        schema: {
          tags: ['Calculators'],
          summary: `Estimate emissions: ${CALCULATOR_DATA[calculatorType].title ?? calculatorType}`,
          body: CALCULATOR_DATA[calculatorType],
          response: { 200: EstimateSchema, ...problemResponses },
        },
      },
      async ({ body }) => estimate({ calculatorType, calculatorData: body } as Calculation),
    )
  }
}

export default routes
