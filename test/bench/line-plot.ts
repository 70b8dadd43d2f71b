export interface Line {
  name: string
  /** A value for each of the plot's xs */
  ys: number[]
}

export interface Plot {
  title: string
  xTitle: string
  /** Drawn by their logarithm */
  xs: number[]
  lines: Line[]
}

const [WIDTH, HEIGHT] = [640, 300]
const [LEFT, RIGHT, TOP, BOTTOM] = [48, 168, 44, 52]
// Readable on white and on black alike.
const COLOURS = ['#0a8f8a', '#c2571a', '#7a5bd0', '#3b82c4']
const GREY = '#7d8b92'
const LABEL_HEIGHT = 16

const grouped = (value: number): string => value.toLocaleString('en-GB')

/** The smallest of 1, 2, 2.5, 5 and their tens that four of reach a value. */
function stepFor(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 4))
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step * 4 >= most) ?? most
}

/** Where names at wanted heights go so that none lies on another. */
function spread(wanted: number[]): number[] {
  const placed = [...wanted]
  let last = -Infinity
  for (const i of wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0))) {
    last = Math.max(wanted[i] ?? 0, last + LABEL_HEIGHT)
    placed[i] = last
  }
  return placed
}

/** An SVG of lines over a logarithmic axis, each with its name at its end. */
export function linePlot({ title, xTitle, xs, lines }: Plot): string {
  const step = stepFor(Math.max(...lines.flatMap(({ ys }) => ys)))
  const [low, high] = [Math.log10(Math.min(...xs)), Math.log10(Math.max(...xs))]
  const x = (value: number) =>
    LEFT + ((Math.log10(value) - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT)
  const y = (value: number) => HEIGHT - BOTTOM - (value / (4 * step)) * (HEIGHT - TOP - BOTTOM)
  const text = (at: number, height: number, anchor: string, words: string, style = '') =>
    `<text x="${at.toFixed(1)}" y="${height.toFixed(1)}" text-anchor="${anchor}"${style}>${words}</text>`

  const grid = [0, 1, 2, 3, 4].map((i) => {
    const value = i * step
    return (
      `<path d="M${LEFT} ${y(value).toFixed(1)}H${WIDTH - RIGHT}" stroke="${GREY}" stroke-opacity=".35"/>` +
      text(LEFT - 8, y(value) + 4, 'end', String(Number(value.toPrecision(3))))
    )
  })
  const ticks = xs.map((value) => text(x(value), HEIGHT - BOTTOM + 20, 'middle', grouped(value)))
  const names = spread(lines.map(({ ys }) => y(ys.at(-1) ?? 0) + 4))
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
    ...grid,
    ...ticks,
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, 'middle', xTitle),
    ...drawn,
    '</svg>\n',
  ].join('\n')
}
