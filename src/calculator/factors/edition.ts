/** IPCC assessment report whose GWP100 values a CO2e figure is based on. */
export type GwpReport = 'AR4' | 'AR5' | 'AR6'

/** A published number, and where to check it. */
export interface FactorValue {
  value: number
  unit: string
  source: string
  /** Table, row and column, or sheet and row */
  location: string
  /** Date of retrieval, `2026-11-23` */
  retrieved: string
  /** For a value that is published as CO2e: the report that the publisher used */
  gwp?: GwpReport
  /** No second source confirms the value */
  unverified?: true
}

/** CO2, CH4 and N2O from burning a kilogram of fuel, kg per kg. */
interface CombustionFactors {
  /** MJ per kg */
  lowerCalorificValue: FactorValue
  co2: FactorValue
  ch4: FactorValue
  n2o: FactorValue
}

interface FuelBase {
  name: string
  /** kg per litre */
  density: FactorValue
}

/** A fuel whose factors are published per mass and energy (FuelEU Maritime, IMO). */
export interface MassBasedFuel extends FuelBase, CombustionFactors {
  basis: 'mass'
  /** g CO2e per MJ; missing if it depends on the origin of the fuel, so that only a certificate has it */
  wellToTank?: FactorValue
  /** Share of the fuel mass that leaves the engine unburnt, as methane */
  methaneSlip?: FactorValue
}

/** A fuel whose factors are published per volume (DESNZ). */
export interface VolumeBasedFuel extends FuelBase {
  basis: 'volume'
  /** kg CO2e per litre */
  wellToTank: FactorValue
  /** kg CO2e per litre */
  tankToWake: FactorValue
  /** For a biofuel: its CO2 is biogenic, and it may have a certified value (FuelEU Maritime, Annex I) */
  certified?: CombustionFactors
}

export type Fuel = MassBasedFuel | VolumeBasedFuel

/** A set of emission factors, published together. Released editions never change. */
export interface Edition<Id extends string = string> {
  /** Year and month of the newest publication, `2026-06` */
  id: string
  title: string
  /** kg CO2e per kg, applied where masses of CH4 and N2O are published */
  gwp100: { ch4: FactorValue; n2o: FactorValue }
  fuels: Record<Id, Fuel>
}
