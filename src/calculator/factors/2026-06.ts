import { EDITION_2025_06 } from './2025-06.js'
import type { Edition, FactorValue } from './edition.js'

/*
 * Released: never edit this file. Later values belong to a later edition.
 *
 * DESNZ 2026 was published on 11 June 2026; its flat file was corrected on 31 July. The factors of
 * HVO are unchanged. The petrol values could not be verified, so those of 2025 are used.
 */

const { fuels } = EDITION_2025_06

const confirmed = <T extends FactorValue>(factor: T) =>
  ({ ...factor, source: 'UK Government (DESNZ) conversion factors 2026' }) as const
const unconfirmed = <T extends FactorValue>(factor: T) =>
  ({ ...factor, location: `${factor.location}; not verified for 2026`, unverified: true }) as const

export const EDITION_2026_06 = {
  ...EDITION_2025_06,
  id: '2026-06',
  title:
    'FuelEU Maritime 2023/1805 (CO2e by AR4), MEPC.364(79), DESNZ 2026 (HVO) and 2025 (petrol) (CO2e by AR5), GWP100 of IPCC AR6 for CH4 and N2O',
  fuels: {
    ...fuels,
    hvo: {
      ...fuels.hvo,
      tankToWake: confirmed(fuels.hvo.tankToWake),
      wellToTank: confirmed(fuels.hvo.wellToTank),
    },
    petrol: {
      ...fuels.petrol,
      tankToWake: unconfirmed(fuels.petrol.tankToWake),
      wellToTank: unconfirmed(fuels.petrol.wellToTank),
    },
    'petrol-blend': {
      ...fuels['petrol-blend'],
      tankToWake: unconfirmed(fuels['petrol-blend'].tankToWake),
      wellToTank: unconfirmed(fuels['petrol-blend'].wellToTank),
    },
  },
} as const satisfies Edition
