import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { createValidationProblem, problemResponses, type Problem } from '../http/problem.js'
import { stringEnum } from '../validation/string-enum.js'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  type Calculation,
  type CalculatorType,
} from './calculator-data.js'
import { calculateEstimate, Estimate } from './estimate.js'
import { Factor, getPublishedFactors } from './factor-list.js'
import type { Edition } from './factors/edition.js'
import {
  BURNT_FUEL_TYPES,
  EDITION_IDS,
  EDITIONS,
  findEdition,
  LATEST_EDITION,
  type BurntFuelType,
  type EditionId,
} from './factors/editions.js'

const edition = Type.Optional(
  stringEnum<EditionId>(EDITION_IDS, {
    description: 'Edition of the emission factors; defaults to the newest',
  }),
)
const EditionQuery = Type.Object({ edition })

const FuelFactors = Type.Object({
  fuelType: Type.String(),
  name: Type.String(),
  factors: Type.Array(Factor),
})

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
    fuels: Type.Array(FuelFactors, {
      description: 'Fuels with published factors; electricity requests provide their own factor',
    }),
    edition: Type.String(),
    dataset: Type.String(),
  },
  { title: 'Calculators', description: 'Calculators, fuels and emission factors' },
)

const EditionsSchema = Type.Object(
  {
    editions: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Year and month of the newest publication' }),
        title: Type.String(),
        isLatest: Type.Boolean({ description: 'Whether it is the default' }),
        fuels: Type.Array(FuelFactors),
      }),
      { description: 'Newest first' },
    ),
  },
  { title: 'Editions', description: 'Editions of the emission factors' },
)

const listFuels = (selected: Edition<BurntFuelType>) =>
  BURNT_FUEL_TYPES.map((fuelType) => ({
    fuelType,
    name: selected.fuels[fuelType].name,
    factors: getPublishedFactors(selected, fuelType),
  }))

const getCatalogue = (selected: Edition<BurntFuelType>) => ({
  calculators: CALCULATOR_TYPES.map((calculatorType) => {
    const schema = CALCULATOR_DATA[calculatorType]
    return { calculatorType, title: schema.title ?? calculatorType, schema }
  }),
  fuels: listFuels(selected),
  edition: selected.id,
  dataset: selected.title,
})

const editions = EDITIONS.toReversed().map((one) => ({
  id: one.id,
  title: one.title,
  isLatest: one.id === LATEST_EDITION.id,
  fuels: listFuels(one),
}))

const selectEdition = (id: EditionId | undefined): Edition<BurntFuelType> =>
  (id === undefined ? null : findEdition(id)) ?? LATEST_EDITION

const createEditionConflict = (): Problem =>
  createValidationProblem([{ path: 'edition', message: 'differs from the edition in the query' }])

/** The calculator's data, and the edition to use. */
const EstimateBody = (calculatorType: CalculatorType) => {
  const schema = CALCULATOR_DATA[calculatorType]
  return Type.Unsafe<Record<string, unknown> & { edition?: EditionId }>({
    ...schema,
    properties: { ...schema.properties, edition },
  })
}

const OPERATION_IDS: Record<CalculatorType, string> = {
  fuel: 'estimateFuel',
  distance: 'estimateDistance',
  custom: 'estimateCustom',
}

const MAX_BODY_BYTES = 16 * 1024

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/calculators',
    {
      schema: {
        tags: ['Calculators'],
        operationId: 'listCalculators',
        summary: 'List calculators, fuels and emission factors',
        querystring: EditionQuery,
        response: { 200: CatalogueSchema, ...problemResponses },
      },
    },
    async ({ query }) => getCatalogue(selectEdition(query.edition)),
  )

  app.get(
    '/api/calculators/editions',
    {
      schema: {
        tags: ['Calculators'],
        operationId: 'listEditions',
        summary: 'List editions of the emission factors',
        response: { 200: EditionsSchema, ...problemResponses },
      },
    },
    async () => ({ editions }),
  )

  for (const calculatorType of CALCULATOR_TYPES) {
    app.post(
      `/api/calculators/${calculatorType}/estimate`,
      {
        bodyLimit: MAX_BODY_BYTES,
        // Compressing the small response would take half as long as the rest of the request.
        compress: false,
        schema: {
          tags: ['Calculators'],
          operationId: OPERATION_IDS[calculatorType],
          summary: `Estimate emissions: ${CALCULATOR_DATA[calculatorType].title ?? calculatorType}`,
          querystring: EditionQuery,
          body: EstimateBody(calculatorType),
          response: { 200: Estimate, ...problemResponses },
        },
      },
      async ({ body: { edition: editionOfBody, ...calculatorData }, query }) => {
        const id = query.edition ?? editionOfBody
        if (editionOfBody !== undefined && editionOfBody !== id) throw createEditionConflict()
        return calculateEstimate(
          { calculatorType, calculatorData } as Calculation,
          selectEdition(id),
        )
      },
    )
  }
}

export default routes
