import type { Calculation } from '../calculator/calculator-data.js'

/** Deterministic random values. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive) */
  fraction(): number
  /** Between two numbers, triangular distribution */
  between(min: number, max: number): number
  /** True with this probability */
  chance(probability: number): boolean
  /** One of the values */
  pick<const T>(values: readonly [T, ...T[]]): T
}

/** Mulberry32 by Tommy Ettinger; not cryptographically secure. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    fraction,
    between: (min, max) => min + ((fraction() + fraction()) / 2) * (max - min),
    chance: (probability) => fraction() < probability,
    pick: <const T>(values: readonly [T, ...T[]]): T =>
      values[Math.floor(fraction() * values.length)] ?? values[0],
  }
}

/** Segment of a customer: private yacht, charter company or ferry operator. */
export type Trade = 'yacht' | 'charter' | 'ferry'

/** A fictional customer of the demo. */
export interface DemoCustomer {
  name: string
  email: string
  trade: Trade
  currency: string
  vessels: readonly [string, ...string[]]
}

type Row = [name: string, email: string, currency: string, ...vessels: [string, ...string[]]]

const customers = (trade: Trade, rows: readonly Row[]): DemoCustomer[] =>
  rows.map(([name, email, currency, ...vessels]) => ({ name, email, trade, currency, vessels }))

const YACHTS = customers('yacht', [
  ['Ann Example', 'ann@example.com', 'EUR', 'Sandpiper'],
  ['Γιώργος Παπαδόπουλος', 'giorgos@example.org', 'EUR', 'Αργοναύτης'],
  ['Ελένη Καραγιάννη', 'eleni.k@example.org', 'EUR', 'Γαλήνη'],
  ['Søren Ødegård', 'soren@example.net', 'NOK', 'Måken', 'Sørvind'],
  ['Ingrid Bjørnstad', 'ingrid.bjornstad@example.net', 'NOK', 'Havørn'],
  ['Marie-Claire Dubois', 'mc.dubois@example.com', 'EUR', 'Étoile du Sud'],
  ['Étienne L’Hôte', 'etienne@example.org', 'EUR', 'Belle-Île'],
  ['José Núñez Álvarez', 'jnunez@example.com', 'EUR', 'Año Nuevo'],
  ['Giulia D’Amico', 'giulia.damico@example.net', 'EUR', 'Libeccio'],
  ['Jürgen Groß', 'j.gross@example.com', 'EUR', 'Windsbraut'],
  ['Zoë van der Meer', 'zoe.vandermeer@example.org', 'EUR', 'Eendracht', 'Vlieland'],
  ['Małgorzata Wiśniewska', 'm.wisniewska@example.com', 'EUR', 'Bryza'],
  ['Ayşe Yılmaz', 'ayse@example.org', 'EUR', 'Gökova'],
  ['Иван Петров', 'ivan.petrov@example.net', 'EUR', 'Ласточка'],
  ['Петя Георгиева', 'petya@example.org', 'EUR', 'Черноморец'],
  ['山田 太郎', 'yamada@example.com', 'JPY', '海風', '第三大漁丸'],
  ['佐藤 葵', 'aoi.sato@example.org', 'JPY', 'しおかぜ'],
  ['林 志明', 'chiming.lin@example.net', 'USD', '順風'],
  ['김민준', 'minjun@example.com', 'USD', '파도'],
  ['سارة الخليفة', 'sara@example.org', 'USD', 'نجمة البحر'],
  ['נועה לוי', 'noa.levi@example.net', 'USD', 'כוכב הים'],
  ['Priya Ramaswamy', 'priya@example.com', 'USD', 'Monsoon'],
  ['Thabo Mokoena', 'thabo@example.org', 'USD', 'Cape Gannet'],
  ['Walter O’Brien', 'wobrien@example.com', 'USD', 'Second Wind', 'Knot Today'],
  ['Catherine Whitfield', 'c.whitfield@example.net', 'USD', 'Liberty Belle'],
  ['Hōkūlani Kealoha', 'hokulani@example.org', 'USD', 'Makani'],
  ['Rhys ap Llywelyn', 'rhys@example.com', 'GBP', 'Môr Gwyn'],
  ['Fiona MacAulay', 'fiona.macaulay@example.org', 'GBP', 'Corncrake'],
  ['Oliver Pemberton-Hythe', 'oliver@example.net', 'GBP', 'Halcyon Days'],
  ['Luca Bernasconi', 'luca@example.com', 'CHF', 'Lago Mio'],
  ['Åsa Lindström', 'asa.lindstrom@example.net', 'SEK', 'Skärgårdsflickan'],
  ['Bruce Tavener', 'bruce@example.com', 'AUD', 'Southerly Buster'],
])

const CHARTERS = customers('charter', [
  ['Aegean Blue Charter', 'bookings@example.com', 'EUR', 'Thalassa', 'Nereid', 'Meltemi', 'Ikaros'],
  ['Κυκλάδες Yachting Α.Ε.', 'office@example.org', 'EUR', 'Νηρηίς', 'Ποσειδών', 'Αμφιτρίτη'],
  ['Adria Čarter d.o.o.', 'info@example.net', 'EUR', 'Bura', 'Maestral', 'Jugo'],
  ['Balear Sails S.L.', 'reservas@example.com', 'EUR', 'Tramuntana', 'Xaloc', 'Gregal'],
  ['Côte & Mer Location', 'contact@example.org', 'EUR', 'Mistral Gagnant', 'Calanque'],
  ['Tirreno Yacht Noleggio', 'noleggio@example.net', 'EUR', 'Ponente', 'Scirocco', 'Maestrale'],
  ['Türkuaz Yatçılık', 'rezervasyon@example.com', 'EUR', 'Mavi Yolculuk', 'Lodos'],
  ['Fjord & Fjell Cruise AS', 'post@example.net', 'NOK', 'Nordlys', 'Lofotposten'],
  ['Solent Sailing Holidays Ltd', 'hello@example.org', 'GBP', 'Needles Eye', 'Spithead'],
  ['Windward & Leeward Charters', 'crew@example.com', 'USD', 'Trade Wind', 'Tamarind', 'Pelican'],
  ['Whitsunday Drift', 'sail@example.net', 'AUD', 'Coral Drift', 'Hill Inlet'],
])

const FERRIES = customers('ferry', [
  ['Rederij Waddenzee', 'vloot@example.com', 'EUR', 'Noorderlicht', 'Oosterschelde'],
  ['Ακτοπλοΐα Αιγαίου', 'fleet@example.org', 'EUR', 'Κυκλάδες Εξπρές', 'Αιγαίον'],
  ['Traghetti del Golfo', 'flotta@example.net', 'EUR', 'Isola Bella', 'Golfo Azzurro'],
  ['Jadranska Linija', 'flota@example.com', 'EUR', 'Kornati', 'Lastovo'],
  ['Kystlinjen ASA', 'miljo@example.net', 'NOK', 'Kystkongen', 'Trollfjord Ekspress'],
  ['Hebridean Sound Ferries', 'marine@example.org', 'GBP', 'Isle of Scarba', 'Sound of Harris'],
  ['瀬戸内フェリー', 'office.setouchi@example.com', 'JPY', 'せとうち', 'いよ'],
  ['Stockholms Skärgårdstrafik', 'miljo.skargard@example.net', 'SEK', 'Sandhamn', 'Vaxö'],
])

/** Each trade's share of the orders, and its customers. */
export const TRADES = [
  { trade: 'charter', share: 0.45, customers: CHARTERS },
  { trade: 'yacht', share: 0.35, customers: YACHTS },
  { trade: 'ferry', share: 0.2, customers: FERRIES },
] as const

/** Rounds to a multiple of `step` (at least one), without floating-point noise. */
const roundTo = (step: number, value: number): number =>
  Number((Math.max(1, Math.round(value / step)) * step).toFixed(3))

/** Fuel burnt, in the customary unit of the customer's country. */
function createFuelTrip(random: Random, { currency }: DemoCustomer, litres: number): Calculation {
  const [unit, inUnit] =
    currency === 'USD'
      ? (['gal-us', litres / 3.785] as const)
      : currency === 'GBP'
        ? (['gal-imp', litres / 4.546] as const)
        : (['l', litres] as const)
  const fuelType = random.chance(0.8) ? 'mgo' : random.pick(['hvo', 'petrol', 'mgo'])
  return {
    calculatorType: 'fuel',
    calculatorData: { fuelType, quantity: roundTo(5, inUnit), unit },
  }
}

function createDistanceTrip(random: Random, hours: number, litresPerHour: number): Calculation {
  const speedKn = roundTo(0.5, random.between(5, 11))
  return {
    calculatorType: 'distance',
    calculatorData: {
      fuelType: 'mgo',
      distance: roundTo(1, hours * speedKn),
      distanceUnit: 'nmi',
      speedKn,
      consumption: roundTo(1, litresPerHour),
      consumptionUnit: 'l/h',
      ...(random.chance(0.3) ? { referenceSpeedKn: speedKn + 1 } : {}),
      ...(random.chance(0.4)
        ? { generatorLitresPerHour: roundTo(0.5, random.between(1.5, 6)) }
        : {}),
    },
  }
}

const DESCRIPTIONS = [
  'A week in the Cyclades',
  'Regatta week',
  'Delivery to winter quarters',
  'Семь дней у берега',
  'Une semaine en mer',
  'Sommertörn',
  'クルーズ一週間',
] as const

function createCustomTrip(random: Random, tonnes: number): Calculation {
  const description = random.pick(DESCRIPTIONS)
  return {
    calculatorType: 'custom',
    calculatorData: {
      amount: roundTo(0.05, tonnes),
      unit: 't',
      ...(random.chance(0.7) ? { description } : {}),
    },
  }
}

function createFerryTrip(random: Random): Calculation {
  const fuelType = random.pick(['mgo', 'mgo', 'lfo', 'hfo', 'lng', 'methanol'])
  if (random.chance(0.25)) {
    const calculatorData = {
      fuelType,
      quantity: roundTo(0.1, random.between(4, 30)),
      unit: 't',
    } as const
    return { calculatorType: 'fuel', calculatorData }
  }
  return {
    calculatorType: 'distance',
    calculatorData: {
      fuelType,
      distance: roundTo(1, random.between(12, 160)),
      distanceUnit: random.chance(0.8) ? 'nmi' : 'km',
      speedKn: roundTo(0.5, random.between(13, 24)),
      consumption: roundTo(10, random.between(300, 1_800)),
      consumptionUnit: 'l/h',
      generatorLitresPerHour: roundTo(5, random.between(40, 120)),
    },
  }
}

/** Generates a typical trip for the customer's trade. */
export function createDemoTrip(random: Random, customer: DemoCustomer): Calculation {
  if (customer.trade === 'ferry') return createFerryTrip(random)
  // Charter yachts are larger and make longer trips.
  const scale = customer.trade === 'charter' ? 3 : 1
  const type = random.fraction()
  if (type < 0.5) return createFuelTrip(random, customer, random.between(60, 700) * scale)
  if (type < 0.87)
    return createDistanceTrip(random, random.between(6, 40), random.between(6, 25) * scale)
  return createCustomTrip(random, random.between(0.2, 2.5) * scale)
}
