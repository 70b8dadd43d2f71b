import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses } from '../http/problem.js'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  type Calculation,
} from './calculator-data.js'
import { DATASET, FUEL_TYPES, FUELS } from './emission-factors.js'
import { Estimate, calculateEstimate } from './estimate.js'
import { Factor, FACTORS } from './fuel-emissions.js'

const CatalogueSchema = Type.Object(
  {
    calculators: Type.Array(
      Type.Object({
        calculatorType: CalculatorTypeSchema,
        title: Type.String(),
        schema: Type.Object(
          {},
          { additionalProperties: true, description: 'JSON Schema of the calculator data' },
        ),
      }),
    ),
    fuels: Type.Array(
      Type.Object({
        fuelType: Type.String(),
        name: Type.String(),
        factors: Type.Array(Factor),
      }),
    ),
    dataset: Type.String(),
  },
  { title: 'Calculators', description: 'Calculators, fuels and emission factors' },
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

const MAX_BODY_BYTES = 16 * 1024

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
        bodyLimit: MAX_BODY_BYTES,
        // The response fits into two packets; compressing it costs half as much as the rest.
        compress: false,
        schema: {
          tags: ['Calculators'],
          summary: `Estimate emissions: ${CALCULATOR_DATA[calculatorType].title ?? calculatorType}`,
          body: CALCULATOR_DATA[calculatorType],
          response: { 200: Estimate, ...problemResponses },
        },
      },
      async ({ body }) =>
        calculateEstimate({ calculatorType, calculatorData: body } as Calculation),
    )
  }
}

export default routes
