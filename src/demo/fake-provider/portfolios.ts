interface FakeProject {
  id: number
  name: string
  description: string
  kind: string
  country: string
  method: 'avoidance' | 'removal'
  standard: string
  registry: string
  registryUrl: string
  vintage: string
  imageUrl?: string
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

const project = (id: number, facts: Omit<FakeProject, 'id' | 'registryUrl'>): FakeProject => ({
  id,
  registryUrl: `https://registry.example/projects/${id}`,
  ...facts,
})

const mangroves = project(11, {
  name: 'Mangroves of Gazi Bay',
  kind: 'Mangrove restoration',
  country: 'Kenya',
  description:
    'Replants and guards 117 hectares of mangroves, where fish grow up and storms slow down. The roots keep the carbon in the mud, and the village sells the credits itself.',
  method: 'removal',
  standard: 'Plan Vivo',
  registry: 'Example Registry',
  vintage: '2024',
})
const cookStoves = project(12, {
  name: 'Cook stoves for Nakuru',
  kind: 'Clean cooking',
  country: 'Kenya',
  description:
    'Stoves that need half the wood, built in the town where they are used. Kitchens have less smoke, and the forest nearby is cut less.',
  method: 'avoidance',
  standard: 'Gold Standard',
  registry: 'Example Registry',
  vintage: '2023–2024',
})
const wind = project(13, {
  name: 'Wind over Isthmus',
  kind: 'Wind power',
  country: 'Mexico',
  description:
    'Twelve turbines in a place that is never calm. Their electricity takes the place of power from gas.',
  method: 'avoidance',
  standard: 'Verified Carbon Standard',
  registry: 'Example Registry',
  vintage: '2022',
})
const seagrass = project(21, {
  name: 'Seagrass of the Ria',
  kind: 'Seagrass restoration',
  country: 'Portugal',
  description:
    'Sows seagrass and moves moorings off it, so that boats lie where nothing grows and the meadow comes back.',
  method: 'removal',
  standard: 'Verified Carbon Standard',
  registry: 'Example Registry',
  vintage: '2025',
})
const basalt = project(31, {
  name: 'Basalt wells',
  kind: 'Direct air capture',
  country: 'Iceland',
  description:
    'CO₂ from the air, dissolved in water and pumped into basalt, where it turns to stone in two years.',
  method: 'removal',
  standard: 'Puro Standard',
  registry: 'Example Registry',
  vintage: '2025',
})
const biochar = project(32, {
  name: 'Biochar from olive prunings',
  kind: 'Biochar',
  country: 'Spain',
  description: 'Char that stays in the soil for centuries instead of going up in smoke.',
  method: 'removal',
  standard: 'Puro Standard',
  registry: 'Example Registry',
  vintage: '2024',
})

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
    description: 'Takes CO₂ out of the air and keeps it in stone or in the soil, for centuries.',
    pricePerTonMinor: 40171,
    currency: 'USD',
    projects: [
      { ...basalt, percentage: 0.55 },
      { ...biochar, percentage: 0.45 },
    ],
  },
]
