interface FakeProject {
  id: number
  name: string
  description: string
  kind: string
  country: string
}

export interface FakePortfolio {
  id: number
  name: string
  description: string
  pricePerTonMinor: number
  currency: string
  /** With their shares of the portfolio, 0 to 1 */
  projects: (FakeProject & { percentage: number })[]
}

const project = (
  id: number,
  [name, kind, country]: [name: string, kind: string, country: string],
  description: string,
): FakeProject => ({ id, name, description, kind, country })

const mangroves = project(
  11,
  ['Mangroves of Gazi Bay', 'Mangrove restoration', 'Kenya'],
  'Replants and guards mangroves, where fish grow up and storms slow down.',
)
const cookStoves = project(
  12,
  ['Cook stoves for Nakuru', 'Clean cooking', 'Kenya'],
  'Stoves that need half the wood, built in the town where they are used.',
)
const wind = project(
  13,
  ['Wind over Isthmus', 'Wind power', 'Mexico'],
  'Twelve turbines in a place that is never calm.',
)
const seagrass = project(
  21,
  ['Seagrass of the Ria', 'Seagrass restoration', 'Portugal'],
  'Sows seagrass and moves moorings off it.',
)
const basalt = project(
  31,
  ['Basalt wells', 'Direct air capture', 'Iceland'],
  'CO₂ from the air, dissolved in water, turned to stone in two years.',
)
const biochar = project(
  32,
  ['Biochar from olive prunings', 'Biochar', 'Spain'],
  'Char that stays in the soil instead of going up in smoke.',
)

/** Fictitious portfolios. */
export const PORTFOLIOS: readonly FakePortfolio[] = [
  {
    id: 1,
    name: 'Harbour Mix',
    description: 'Coast, wind and kitchens: a bit of everything, for any trip.',
    pricePerTonMinor: 2390,
    currency: 'USD',
    projects: [
      { ...mangroves, percentage: 0.5 },
      { ...cookStoves, percentage: 0.3 },
      { ...wind, percentage: 0.2 },
    ],
  },
  {
    id: 2,
    name: 'Blue Carbon',
    description: 'Seagrass and mangroves alone: carbon kept where vessels sail.',
    pricePerTonMinor: 3850,
    currency: 'USD',
    projects: [
      { ...mangroves, percentage: 0.6 },
      { ...seagrass, percentage: 0.4 },
    ],
  },
  {
    id: 3,
    name: 'Carbon to Stone',
    description: 'Takes CO₂ out of the air and leaves it in rock, for good.',
    pricePerTonMinor: 40171,
    currency: 'USD',
    projects: [
      { ...basalt, percentage: 0.55 },
      { ...biochar, percentage: 0.45 },
    ],
  },
]
