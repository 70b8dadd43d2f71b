import { Type, type TSchema } from '@sinclair/typebox'

// The order source's own vocabulary, as Wren documents it: https://www.wren.co/docs/api

/** A field that the order source may leave out, or leave empty. */
const maybe = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]))

const text = (description: string, maxLength = 500) => Type.String({ maxLength, description })
const id = Type.Union([
  Type.String({ minLength: 1, maxLength: 120, pattern: '\\S' }),
  Type.Integer(),
])
const currency = Type.String({ pattern: '^[A-Za-z]{3}$', description: 'ISO 4217 code' })
const amountCharged = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Price in minor units of the currency, such as cents; rounded up',
})

export const Project = Type.Object({
  id,
  name: text('Name of the project'),
  description: maybe(text('What it does', 20_000)),
  kind: maybe(text('Kind of project')),
  country: maybe(text('Where it is')),
  url: maybe(text('A page about it')),
  percentage: maybe(Type.Number({ description: 'Share of the portfolio, 0 to 1' })),
})

export const Portfolio = Type.Object({
  id: Type.Integer(),
  name: text('Name of the portfolio'),
  description: maybe(text('What it is about', 20_000)),
  cost_per_ton: maybe(Type.Number({ minimum: 0, description: 'Price of a ton, major units' })),
  pricePerTonMinor: maybe(Type.Integer({ minimum: 0, description: 'The same in minor units' })),
  currency: maybe(currency),
  projects: maybe(Type.Array(Project, { maxItems: 1_000 })),
})

const offsetOrder = {
  tons: Type.Number({ exclusiveMinimum: 0, description: 'Tons of CO2e' }),
  currency: maybe(currency),
  note: maybe(text('As it was ordered', 20_000)),
}

/** An offset order among others. */
export const KnownOffsetOrder = Type.Object(
  {
    id,
    ...offsetOrder,
    amountCharged: maybe(amountCharged),
    portfolioId: maybe(Type.Integer()),
    createdAt: maybe(text('When it was made', 40)),
  },
  { title: 'Offset order' },
)

/** What an order, or asking for its price, is answered with. */
export const PlacedOrderResponse = Type.Object(
  {
    id: Type.Union([id, Type.Null()], {
      description: 'null where dryRun asked for the price only',
    }),
    ...offsetOrder,
    amountCharged,
  },
  { title: 'Offset order, placed or priced' },
)

export const PortfolioList = Type.Object(
  { portfolios: Type.Array(Portfolio, { maxItems: 1_000 }) },
  { title: 'Portfolios' },
)

export const OffsetOrderList = Type.Object(
  { offsetOrders: Type.Array(KnownOffsetOrder) },
  { title: 'Offset orders' },
)

export const OffsetOrderRequest = Type.Object(
  {
    tons: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      description: 'Tons of CO2e to offset',
    }),
    portfolioId: Type.Optional(
      Type.Integer({ description: 'What to offset with; a default portfolio where missing' }),
    ),
    note: Type.Optional(Type.String({ maxLength: 2_000, description: 'Kept with the order' })),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'true: only the price; nothing is ordered, nothing charged' }),
    ),
  },
  {
    title: 'Request for an offset order',
    examples: [{ tons: 1.6, portfolioId: 1, note: 'CW-000123' }],
  },
)
