import type { CertificateContent } from './certificate.js'

/** A path of the drawing, in its units; filled, or drawn as a line of the given width. */
export interface Shape {
  d: string
  colour: string
  lineWidth?: number
}

/** What stands on the coast of the drawing. */
type Landmark = keyof typeof LANDMARKS

/** Units of the drawing: it is cropped at the top, and its sky fills what is left. */
export const DRAWING = { width: 1200, height: 760, horizon: 650, shore: 740 }

/** Colours of the sky, from the top to the horizon. */
export const SKY = ['#1d6a78', '#7dbdb6', '#fdebd0'] as const

const { width, height } = DRAWING

const circle = (x: number, y: number, r: number): string =>
  `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`

const rectangle = (x: number, y: number, w: number, h: number): string =>
  `M${x} ${y}h${w}v${h}h${-w}Z`

/** The sea below a wavy line. */
function wave(top: number, rise: number, length: number, phase: number): string {
  let d = `M${-phase} ${top}`
  for (let x = -phase; x < width; x += length) {
    d += `q${length / 4} ${-rise} ${length / 2} 0t${length / 2} 0`
  }
  return `${d}V${height}H${-phase}Z`
}

const GREEN = ['#0f5b57', '#17706a', '#1f8a78'] as const

const conifer = (x: number, y: number, size: number): string =>
  `M${x} ${y - 3 * size}l${size} ${1.5 * size}h${-0.4 * size}l${0.7 * size} ${1.2 * size}h${-2.6 * size}` +
  `l${0.7 * size} ${-1.2 * size}h${-0.4 * size}Z${rectangle(x - 0.12 * size, y - 0.4 * size, 0.24 * size, 0.5 * size)}`

const mangrove = (x: number, y: number, size: number): Shape[] => [
  {
    d: [-0.9, -0.45, 0.4, 0.85]
      .map(
        (dx) => `M${x} ${y - size}Q${x + dx * size * 0.8} ${y - 0.8 * size} ${x + dx * size} ${y}`,
      )
      .join(''),
    colour: '#5b4636',
    lineWidth: 0.12 * size,
  },
  {
    d:
      circle(x - 0.75 * size, y - 1.35 * size, 0.7 * size) +
      circle(x + 0.8 * size, y - 1.3 * size, 0.65 * size),
    colour: GREEN[1],
  },
  { d: circle(x, y - 1.8 * size, 0.85 * size), colour: GREEN[2] },
]

/** A tower with three blades that are turned by an angle, in degrees. */
function windTurbine(x: number, y: number, size: number, angle: number): Shape[] {
  const top = y - 2.4 * size
  const blades = [0, 120, 240].map((turn) => {
    const radians = ((angle + turn) * Math.PI) / 180
    const at = (length: number, side: number): string =>
      [
        x + size * (length * Math.sin(radians) + side * Math.cos(radians)),
        top - size * (length * Math.cos(radians) - side * Math.sin(radians)),
      ]
        .map((value) => value.toFixed(1))
        .join(' ')
    return `M${at(0, -0.03)}L${at(0.3, -0.1)}L${at(1.25, 0)}L${at(0, 0.05)}Z`
  })
  const tower = `M${x - 0.04 * size} ${top}h${0.08 * size}l${0.04 * size} ${2.4 * size}h${-0.16 * size}Z`
  return [
    { d: tower, colour: '#eef6f5' },
    { d: blades.join('') + circle(x, top, 0.09 * size), colour: '#ffffff' },
  ]
}

const house = (x: number, y: number, size: number): Shape[] => [
  { d: rectangle(x, y - size, 1.5 * size, size), colour: '#f7e3c4' },
  { d: rectangle(x + 1.05 * size, y - 1.75 * size, 0.2 * size, 0.5 * size), colour: '#8a4b32' },
  {
    d: `M${x - 0.2 * size} ${y - size}L${x + 0.75 * size} ${y - 1.75 * size}L${x + 1.7 * size} ${y - size}Z`,
    colour: '#c8643c',
  },
  { d: rectangle(x + 0.55 * size, y - 0.6 * size, 0.35 * size, 0.6 * size), colour: '#5b4636' },
]

const LANDMARKS = {
  mangroves: [
    ...mangrove(688, 664, 30),
    ...mangrove(860, 662, 36),
    ...mangrove(775, 672, 42),
    ...mangrove(950, 670, 30),
  ],
  forest: [
    {
      d: [690, 745, 800, 870, 930, 985, 1060]
        .map((x) => conifer(x, 612 - (x - 690) / 8, 26))
        .join(''),
      colour: GREEN[0],
    },
    {
      d: [715, 775, 838, 905, 962, 1030].map((x) => conifer(x, 630 - (x - 690) / 9, 22)).join(''),
      colour: GREEN[2],
    },
  ],
  turbines: [
    ...windTurbine(765, 606, 30, 15),
    ...windTurbine(865, 600, 36, 50),
    ...windTurbine(955, 590, 28, 85),
  ],
  village: [
    ...house(735, 612, 34),
    ...house(820, 592, 40),
    ...house(915, 596, 32),
    { d: conifer(715, 622, 16) + conifer(902, 588, 17) + conifer(985, 588, 18), colour: GREEN[0] },
  ],
  rocks: [
    { d: 'M670 640L800 500L840 520L870 498L1000 600L1060 640Z', colour: '#3f5f68' },
    {
      d: 'M745 560L800 500L840 520L870 498L905 526L868 560L838 542L800 572L776 546Z',
      colour: '#eef6f5',
    },
    { d: 'M722 608H984M700 624H1010', colour: '#5d7f86', lineWidth: 6 },
  ],
  lighthouse: [
    { d: 'M826 590L834 500H866L874 590Z', colour: '#ffffff' },
    { d: 'M831 540L833 520H867L869 540ZM827 580L829 560H871L873 580Z', colour: '#d1573b' },
    { d: `${rectangle(838, 482, 24, 18)}M832 482L850 464L868 482Z`, colour: '#0b2530' },
    { d: circle(850, 491, 6), colour: '#ffd98f' },
  ],
} satisfies Record<string, Shape[]>

/** What the landmarks look like, for people who cannot see the drawing. */
const DESCRIPTIONS: Record<Landmark, string> = {
  mangroves: 'mangroves',
  forest: 'a forest',
  turbines: 'wind turbines',
  village: 'a village',
  rocks: 'mountains',
  lighthouse: 'a lighthouse',
}

/** Words in the types and names of projects, and what is drawn for them. */
const SUBJECTS: readonly [words: RegExp, landmark: Landmark][] = [
  [/mangrove|seagrass|wetland|blue carbon|coastal/i, 'mangroves'],
  [/\bwind\b/i, 'turbines'],
  [/cook|stove|household|biogas|safe water/i, 'village'],
  [/air capture|basalt|mineral|weathering|geolog|\brock/i, 'rocks'],
  [/forest|tree|\bredd|woodland|biochar|rainforest/i, 'forest'],
]

function findLandmark(projects: CertificateContent['projects']): Landmark {
  for (const { name, kind } of projects) {
    const subject = SUBJECTS.find(([words]) => words.test(`${kind ?? ''} ${name}`))
    if (subject) return subject[1]
  }
  return 'lighthouse'
}

const SAILING_BOAT: Shape[] = [
  { d: 'M478 522V664L408 664Q452 600 478 522Z', colour: '#ffffff' },
  { d: 'M486 540V664H548Q522 600 486 540Z', colour: '#e3f1ef' },
  { d: rectangle(479, 512, 6, 158), colour: '#0b2530' },
  { d: 'M404 672H560Q552 700 530 706H434Q414 700 404 672Z', colour: '#0b2530' },
  { d: 'M404 672H560L557 680H407Z', colour: '#e0764f' },
]

const BIRDS: Shape = {
  d: 'M600 528q10 -10 18 0q8 -10 18 0M660 508q8 -8 14 0q6 -8 14 0',
  colour: '#0b2530',
  lineWidth: 3,
}

/** The drawing of a certificate below its sky: a boat, and a coast that suits the projects. */
export interface Drawing {
  shapes: Shape[]
  /** In a few words */
  description: string
}

/** Draws a coast that suits the first project whose subject is known. */
export function createDrawing(projects: CertificateContent['projects']): Drawing {
  const landmark = findLandmark(projects)
  const shapes: Shape[] = [
    { d: circle(300, 600, 96), colour: '#fdf0dc' },
    { d: circle(300, 600, 62), colour: '#ffd08a' },
    {
      d: 'M0 670V604C120 566 230 612 360 592S660 546 820 582S1090 556 1200 578V670H0Z',
      colour: '#93c7bd',
    },
    BIRDS,
    { d: 'M590 670C650 640 690 612 760 596S940 572 1200 536V670Z', colour: '#3f9488' },
    ...(landmark === 'mangroves' ? [] : LANDMARKS[landmark]),
    { d: wave(652, 5, 170, 40), colour: '#3a9b9c' },
    ...(landmark === 'mangroves' ? LANDMARKS.mangroves : []),
    { d: wave(672, 8, 260, 130), colour: '#1f7f86' },
    ...SAILING_BOAT,
    { d: wave(697, 9, 320, 60), colour: '#10626d' },
    { d: 'M380 711q30 -7 60 0t60 0t60 0', colour: '#7fc4c1', lineWidth: 4 },
    { d: wave(718, 10, 420, 260), colour: '#0a4652' },
  ]
  return { shapes, description: `A sailing boat off a coast with ${DESCRIPTIONS[landmark]}` }
}

/** The line at which the drawing ends: paper below a wave. */
export const SHORE = wave(DRAWING.shore, 10, 600, 200)

const VISIBLE_TOP = 430

/** Renders the drawing as SVG, cropped to the shape of its element. */
export function renderDrawingSvg({ shapes }: Drawing): string {
  const stops = SKY.map(
    (colour, i) => `<stop offset="${i / (SKY.length - 1)}" stop-color="${colour}"/>`,
  ).join('')
  const paths = shapes.map(({ d, colour, lineWidth }) =>
    lineWidth === undefined
      ? `<path fill="${colour}" d="${d}"/>`
      : `<path stroke="${colour}" stroke-width="${lineWidth}" d="${d}"/>`,
  )
  return (
    `<svg class="drawing" viewBox="0 ${VISIBLE_TOP} ${width} ${height - VISIBLE_TOP}" preserveAspectRatio="xMidYMax slice" aria-hidden="true">` +
    `<linearGradient id="sky" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="${VISIBLE_TOP}" y2="${DRAWING.horizon}">${stops}</linearGradient>` +
    `<path fill="url(#sky)" d="${rectangle(0, 0, width, height)}"/>${paths.join('')}<path class="paper" d="${SHORE}"/></svg>`
  )
}
