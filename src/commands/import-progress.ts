import type { ImportProgress } from '../orders/import/import-orders.js'

const BAR_WIDTH = 30
const REDRAW_MS = 100

/** So many orders, in words. */
export const formatOrderCount = (orders: number): string =>
  `${orders.toLocaleString('en')} ${orders === 1 ? 'order' : 'orders'}`

function bar(share: number): string {
  const full = Math.floor(share * BAR_WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${Math.floor(share * 100)} %`
}

interface Screen {
  isTTY?: boolean
  write: (text: string) => unknown
}

/** One line on a terminal, drawn again and again. */
function drawn(screen: Screen, size: number | null) {
  let drawnAt = 0
  const draw = (text: string): void => void screen.write(`\r${text}\x1b[K`)
  return {
    onRead(bytes: number, orders: number): void {
      const now = performance.now()
      if (now - drawnAt < REDRAW_MS) return
      drawnAt = now
      const share = size === null ? '' : `${bar(Math.min(bytes / size, 1))}, `
      draw(`Reading: ${share}${formatOrderCount(orders)}`)
    },
    onPhase: (phase: string): void => draw(`Entering: ${phase} …`),
    /** Leaves the line to whoever writes next. */
    clear: (): void => draw(''),
  }
}

/** Lines that a log may keep: one for each tenth of the file. */
function written(screen: Screen, size: number | null) {
  let tenths = 0
  return {
    onRead(bytes: number, orders: number): void {
      const reached = size === null ? 0 : Math.min(Math.floor((bytes / size) * 10), 10)
      if (reached <= tenths) return
      tenths = reached
      screen.write(`Read ${tenths * 10} %, ${formatOrderCount(orders)}\n`)
    },
    onPhase: (phase: string): void => void screen.write(`Entering: ${phase}\n`),
    clear(): void {},
  }
}

/**
 * Shows how an import gets on.
 *
 * @param size of the file, bytes; `null` where it is not known
 */
export const createProgressBar = (
  screen: Screen,
  size: number | null,
): ImportProgress & { clear: () => void } =>
  screen.isTTY === true ? drawn(screen, size) : written(screen, size)
