export interface Line {
  name: string
  /** A value above 0 for each of the plot's xs */
  ys: number[]
}

export interface Plot {
  title: string
  xTitle: string
  xs: number[]
  lines: Line[]
  /** A highlighted value */
  mark?: number
}

const [WIDTH, HEIGHT] = [640, 300]
const [LEFT, RIGHT, TOP, BOTTOM] = [48, 188, 44, 52]
// Readable on white and on black alike.
const COLOURS = ['#0a8f8a', '#c2571a', '#7a5bd0', '#3b82c4', '#b8467e', '#6f8f2c', '#947135']
const GREY = '#7d8b92'
const LABEL_HEIGHT = 16
const MOST_GRID_LINES = 8

const grouped = (value: number): string => value.toLocaleString('en-GB')

/** The values of the grid, from below the least to above the most: as many as are easily read. */
function gridFor(values: number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))]
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const steps = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]].map((factors) => {
    // Written and read, as 3 × 0.1 is not 0.3.
    const all = powers.flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`)))
    const from = all.findLastIndex((value) => value <= least)
    const to = all.findIndex((value) => value >= most)
    return all.slice(Math.max(from, 0), to + 1)
  })
  return steps.find((values) => values.length <= MOST_GRID_LINES) ?? steps.at(-1) ?? []
}

/** Where names at wanted heights go so that none lies on another, nor below the lowest height. */
function spread(wanted: number[], lowest: number): number[] {
  const placed = [...wanted]
  const downwards = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0))
  let above = -Infinity
  for (const i of downwards) placed[i] = above = Math.max(wanted[i] ?? 0, above + LABEL_HEIGHT)
  let below = lowest + LABEL_HEIGHT
  for (const i of downwards.toReversed()) {
    placed[i] = below = Math.min(placed[i] ?? 0, below - LABEL_HEIGHT)
  }
  return placed
}

/** An SVG of lines, logarithmic both ways, each with its name at its end. */
export function linePlot({ title, xTitle, xs, lines, mark }: Plot): string {
  const grid = gridFor(lines.flatMap(({ ys }) => ys))
  /** Where a value of a logarithmic axis lies, as a share of it. */
  const along = (ends: number[], value: number) => {
    const [low, high] = [Math.log10(Math.min(...ends)), Math.log10(Math.max(...ends))]
    return (Math.log10(value) - low) / (high - low || 1)
  }
  const x = (value: number) => LEFT + along(xs, value) * (WIDTH - LEFT - RIGHT)
  const y = (value: number) => HEIGHT - BOTTOM - along(grid, value) * (HEIGHT - TOP - BOTTOM)
  const text = (at: number, height: number, anchor: string, words: string, style = '') =>
    `<text x="${at.toFixed(1)}" y="${height.toFixed(1)}" text-anchor="${anchor}"${style}>${words}</text>`

  const rules = grid.map(
    (value) =>
      `<path d="M${LEFT} ${y(value).toFixed(1)}H${WIDTH - RIGHT}" stroke="${GREY}" stroke-opacity="${value === mark ? 1 : 0.35}"/>` +
      text(LEFT - 8, y(value) + 4, 'end', grouped(value)),
  )
  const ticks = xs.map((value) => text(x(value), HEIGHT - BOTTOM + 20, 'middle', grouped(value)))
  const wanted = lines.map(({ ys }) => y(ys.at(-1) ?? 1) + 4)
  const names = spread(wanted, HEIGHT - BOTTOM + 4)
  const drawn = lines.map(({ name, ys }, i) => {
    const colour = COLOURS[i % COLOURS.length] ?? GREY
    const points = ys.map((value, k) => `${x(xs[k] ?? 1).toFixed(1)},${y(value).toFixed(1)}`)
    const dots = points.map((point) => {
      const [cx, cy] = point.split(',')
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`
    })
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...dots,
      text(WIDTH - RIGHT + 10, names[i] ?? 0, 'start', name, ` fill="${colour}"`),
    ].join('')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui,sans-serif" font-size="12" fill="${GREY}">`,
    `<title>${title}</title>`,
    text(LEFT, 22, 'start', title, ' font-size="14" font-weight="600"'),
    ...rules,
    ...ticks,
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, 'middle', xTitle),
    ...drawn,
    '</svg>\n',
  ].join('\n')
}
