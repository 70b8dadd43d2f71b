export interface Line {
  name: string
  /** A value above 0 for each x value of the plot */
  ys: number[]
}

export interface Plot {
  title: string
  xTitle: string
  xs: number[]
  lines: Line[]
  /** A value whose grid line is emphasised */
  reference?: number
}

const [WIDTH, HEIGHT] = [640, 300]
const [LEFT, RIGHT, TOP, BOTTOM] = [48, 188, 44, 52]
// Readable on white and on black.
const COLOURS = ['#0a8f8a', '#c2571a', '#7a5bd0', '#3b82c4', '#b8467e', '#6f8f2c', '#947135']
const GREY = '#7d8b92'
const LABEL_HEIGHT = 16
const MAX_GRID_LINES = 8

const formatNumber = (value: number): string => value.toLocaleString('en-GB')

/** Round values from below the smallest to above the largest, at most MAX_GRID_LINES if possible. */
function createGrid(values: number[]): number[] {
  const [min, max] = [Math.min(...values), Math.max(...values)]
  const [first, last] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))]
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const grids = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]].map((factors) => {
    // Parsed from text, because 3 × 0.1 is not 0.3.
    const all = powers.flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`)))
    const from = all.findLastIndex((value) => value <= min)
    const to = all.findIndex((value) => value >= max)
    return all.slice(Math.max(from, 0), to + 1)
  })
  return grids.find((grid) => grid.length <= MAX_GRID_LINES) ?? grids.at(-1) ?? []
}

/** Moves labels apart so that they neither overlap nor exceed the largest y coordinate. */
function spreadLabels(wanted: number[], maxY: number): number[] {
  const placed = [...wanted]
  const downwards = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0))
  let above = -Infinity
  for (const i of downwards) placed[i] = above = Math.max(wanted[i] ?? 0, above + LABEL_HEIGHT)
  let below = maxY + LABEL_HEIGHT
  for (const i of downwards.toReversed()) {
    placed[i] = below = Math.min(placed[i] ?? 0, below - LABEL_HEIGHT)
  }
  return placed
}

/** Renders an SVG line plot with logarithmic axes; each line is labelled at its end. */
export function renderLinePlot({ title, xTitle, xs, lines, reference }: Plot): string {
  const grid = createGrid(lines.flatMap(({ ys }) => ys))
  /** The position of a value on a logarithmic axis, from 0 to 1. */
  const getPosition = (axis: number[], value: number) => {
    const [low, high] = [Math.log10(Math.min(...axis)), Math.log10(Math.max(...axis))]
    return (Math.log10(value) - low) / (high - low || 1)
  }
  const getX = (value: number) => LEFT + getPosition(xs, value) * (WIDTH - LEFT - RIGHT)
  const getY = (value: number) =>
    HEIGHT - BOTTOM - getPosition(grid, value) * (HEIGHT - TOP - BOTTOM)
  const renderText = (x: number, y: number, anchor: string, text: string, attributes = '') =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${attributes}>${text}</text>`

  const gridLines = grid.map(
    (value) =>
      `<path d="M${LEFT} ${getY(value).toFixed(1)}H${WIDTH - RIGHT}" stroke="${GREY}" stroke-opacity="${value === reference ? 1 : 0.35}"/>` +
      renderText(LEFT - 8, getY(value) + 4, 'end', formatNumber(value)),
  )
  const ticks = xs.map((value) =>
    renderText(getX(value), HEIGHT - BOTTOM + 20, 'middle', formatNumber(value)),
  )
  const labelYs = spreadLabels(
    lines.map(({ ys }) => getY(ys.at(-1) ?? 1) + 4),
    HEIGHT - BOTTOM + 4,
  )
  const renderedLines = lines.map(({ name, ys }, i) => {
    const colour = COLOURS[i % COLOURS.length] ?? GREY
    const points = ys.map((value, k) => [getX(xs[k] ?? 1).toFixed(1), getY(value).toFixed(1)])
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`),
      renderText(WIDTH - RIGHT + 10, labelYs[i] ?? 0, 'start', name, ` fill="${colour}"`),
    ].join('')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui,sans-serif" font-size="12" fill="${GREY}">`,
    `<title>${title}</title>`,
    renderText(LEFT, 22, 'start', title, ' font-size="14" font-weight="600"'),
    ...gridLines,
    ...ticks,
    renderText((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, 'middle', xTitle),
    ...renderedLines,
    '</svg>\n',
  ].join('\n')
}
