import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { createValidationProblem, problemResponses } from '../core/http/problem.js'
import { stringEnum } from '../core/validation/formats.js'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  type Calculation,
  type CalculatorType,
} from './calculator-data.js'
import { Estimate, Factor } from './estimate-schema.js'
import { calculateEstimate } from './estimate.js'
import { listGwp100, listPublishedFactors } from './factor-list.js'
import {
  DEFAULT_FRAMEWORK,
  FRAMEWORK_NAMES,
  FRAMEWORKS,
  FrameworkSchema,
  getGwp100,
  type Edition,
  type Framework,
} from './factors/edition.js'
import {
  BURNT_FUEL_TYPES,
  EDITION_IDS,
  EDITIONS,
  findEdition,
  hasFuel,
  isBurnt,
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
const EstimateQuery = Type.Object({ edition, framework: Type.Optional(FrameworkSchema) })

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
    frameworks: Type.Array(
      Type.Object({
        framework: FrameworkSchema,
        name: Type.String(),
        factors: Type.Array(Factor, { description: 'GWP100 of CH4 and N2O' }),
      }),
    ),
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

const selectEdition = (id: EditionId): Edition<BurntFuelType> => findEdition(id) ?? LATEST_EDITION

const listFuels = (id: EditionId) => {
  const selected = selectEdition(id)
  const gwp100 = getGwp100(DEFAULT_FRAMEWORK, selected)
  return BURNT_FUEL_TYPES.filter((fuelType) => hasFuel(id, fuelType)).map((fuelType) => ({
    fuelType,
    name: selected.fuels[fuelType].name,
    factors: listPublishedFactors(selected.fuels[fuelType], fuelType, gwp100),
  }))
}

const getCatalogue = (id: EditionId) => {
  const selected = selectEdition(id)
  return {
    calculators: CALCULATOR_TYPES.map((calculatorType) => {
      const schema = CALCULATOR_DATA[calculatorType]
      return { calculatorType, title: schema.title ?? calculatorType, schema }
    }),
    fuels: listFuels(id),
    frameworks: FRAMEWORKS.map((framework) => ({
      framework,
      name: FRAMEWORK_NAMES[framework],
      factors: listGwp100(getGwp100(framework, selected)),
    })),
    edition: selected.id,
    dataset: selected.title,
  }
}

const editions = EDITIONS.toReversed().map(({ id, title }) => ({
  id,
  title,
  isLatest: id === LATEST_EDITION.id,
  fuels: listFuels(id),
}))

/** The fields with a fuel that an edition does not have. */
function listMissingFuels({ calculatorType, calculatorData }: Calculation, id: EditionId) {
  if (calculatorType === 'custom' || id === LATEST_EDITION.id) return []
  return [calculatorData, ...(calculatorData.furtherLines ?? [])].flatMap(({ fuelType }, i) =>
    !isBurnt(fuelType) || hasFuel(id, fuelType)
      ? []
      : [
          {
            path: i === 0 ? 'fuelType' : `furtherLines.${i - 1}.fuelType`,
            message: `is not in edition ${id}: use edition ${LATEST_EDITION.id}`,
          },
        ],
  )
}

/** The calculator's data, and the edition to use. */
const EstimateBody = (calculatorType: CalculatorType) => {
  const schema = CALCULATOR_DATA[calculatorType]
  return Type.Unsafe<Record<string, unknown> & { edition?: EditionId; framework?: Framework }>({
    ...schema,
    properties: { ...schema.properties, edition },
  })
}

const OPERATION_IDS = {
  fuel: 'estimateFuel',
  distance: 'estimateDistance',
  custom: 'estimateCustom',
} as const

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
    async ({ query }) => getCatalogue(query.edition ?? LATEST_EDITION.id),
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
          querystring: EstimateQuery,
          body: EstimateBody(calculatorType),
          response: { 200: Estimate, ...problemResponses },
        },
      },
      async ({ body, query }) => {
        for (const name of ['edition', 'framework'] as const) {
          if (body[name] !== undefined && body[name] !== (query[name] ?? body[name])) {
            const message = `differs from the ${name} in the query`
            throw createValidationProblem([{ path: name, message }])
          }
        }
        const { edition: bodyEdition, ...data } = body
        const id = query.edition ?? bodyEdition ?? LATEST_EDITION.id
        const framework = query.framework ?? data.framework
        const calculatorData = { ...data, ...(framework === undefined ? {} : { framework }) }
        const calculation = { calculatorType, calculatorData } as Calculation
        const missing = listMissingFuels(calculation, id)
        if (missing.length > 0) throw createValidationProblem(missing)
        return calculateEstimate(calculation, selectEdition(id))
      },
    )
  }
}

export default routes
