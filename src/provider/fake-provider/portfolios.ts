interface Project {
  id: number
  name: string
  description: string
  kind: string
  country: string
  /** Its part of the portfolio, 0 to 1 */
  percentage: number
}

export interface FakePortfolio {
  id: number
  name: string
  description: string
  pricePerTonMinor: number
  currency: string
  projects: Project[]
}

/** What the stand-in offers: all of it made up. */
export const PORTFOLIOS: readonly FakePortfolio[] = [
  {
    id: 1,
    name: 'Harbour Mix',
    description: 'Coast, wind and kitchens: a bit of everything, for any trip.',
    pricePerTonMinor: 2390,
    currency: 'USD',
    projects: [
      {
        id: 11,
        name: 'Mangroves of Gazi Bay',
        description: 'Replants and guards mangroves, where fish grow up and storms slow down.',
        kind: 'Mangrove restoration',
        country: 'Kenya',
        percentage: 0.5,
      },
      {
        id: 12,
        name: 'Cook stoves for Nakuru',
        description: 'Stoves that need half the wood, built in the town where they are used.',
        kind: 'Clean cooking',
        country: 'Kenya',
        percentage: 0.3,
      },
      {
        id: 13,
        name: 'Wind over Isthmus',
        description: 'Twelve turbines in a place that is never calm.',
        kind: 'Wind power',
        country: 'Mexico',
        percentage: 0.2,
      },
    ],
  },
  {
    id: 2,
    name: 'Blue Carbon',
    description: 'Seagrass and mangroves alone: carbon kept where vessels sail.',
    pricePerTonMinor: 3850,
    currency: 'USD',
    projects: [
      {
        id: 11,
        name: 'Mangroves of Gazi Bay',
        description: 'Replants and guards mangroves, where fish grow up and storms slow down.',
        kind: 'Mangrove restoration',
        country: 'Kenya',
        percentage: 0.6,
      },
      {
        id: 21,
        name: 'Seagrass of the Ria',
        description: 'Sows seagrass and moves moorings off it.',
        kind: 'Seagrass restoration',
        country: 'Portugal',
        percentage: 0.4,
      },
    ],
  },
  {
    id: 3,
    name: 'Carbon to Stone',
    description: 'Takes CO₂ out of the air and leaves it in rock, for good.',
    pricePerTonMinor: 40171,
    currency: 'USD',
    projects: [
      {
        id: 31,
        name: 'Basalt wells',
        description: 'CO2 from the air, dissolved in water, turned to stone in two years.',
        kind: 'Direct air capture',
        country: 'Iceland',
        percentage: 0.55,
      },
      {
        id: 32,
        name: 'Biochar from olive prunings',
        description: 'Char that stays in the soil instead of going up in smoke.',
        kind: 'Biochar',
        country: 'Spain',
        percentage: 0.45,
      },
    ],
  },
]
