import type { ImportProgress } from '../orders/import/import-orders.js'

const BAR_WIDTH = 30
const REDRAW_INTERVAL_MS = 100

export const formatOrderCount = (orders: number): string =>
  `${orders.toLocaleString('en')} ${orders === 1 ? 'order' : 'orders'}`

function drawBar(share: number): string {
  const filled = Math.floor(share * BAR_WIDTH)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(share * 100)}%`
}

interface Screen {
  isTTY?: boolean
  write: (text: string) => unknown
}

/** A progress bar on one line of a terminal. */
function createTerminalProgress(screen: Screen, size: number | null) {
  let lastDrawn = 0
  const draw = (text: string): void => void screen.write(`\r${text}\x1b[K`)
  return {
    onRead(bytes: number, orders: number): void {
      const now = performance.now()
      if (now - lastDrawn < REDRAW_INTERVAL_MS) return
      lastDrawn = now
      const share = size === null ? '' : `${drawBar(Math.min(bytes / size, 1))}, `
      draw(`Reading: ${share}${formatOrderCount(orders)}`)
    },
    onPhase: (phase: string): void => draw(`Importing: ${phase}…`),
    clear: (): void => draw(''),
  }
}

/** Log output: one line for each 10% of the file. */
function createLogProgress(screen: Screen, size: number | null) {
  let tenths = 0
  return {
    onRead(bytes: number, orders: number): void {
      const reached = size === null ? 0 : Math.min(Math.floor((bytes / size) * 10), 10)
      if (reached <= tenths) return
      tenths = reached
      screen.write(`Read ${tenths * 10}%, ${formatOrderCount(orders)}\n`)
    },
    onPhase: (phase: string): void => void screen.write(`Importing: ${phase}\n`),
    clear(): void {},
  }
}

/** @param size size of the file in bytes; `null` if unknown */
export const createProgressBar = (
  screen: Screen,
  size: number | null,
): ImportProgress & { clear: () => void } =>
  screen.isTTY === true ? createTerminalProgress(screen, size) : createLogProgress(screen, size)
