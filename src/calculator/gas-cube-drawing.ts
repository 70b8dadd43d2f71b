/** SVG paths of a cube of gas next to an object of known height, in a 160 by 116 view box. */
export interface GasCubeDrawing {
  scaleObject: 'person' | 'lighthouse'
  scaleObjectLabel: string
  /** SVG transform of the scale object, which is drawn 100 units high above its origin */
  scaleObjectTransform: string
  front: string
  side: string
  top: string
}

const SCALE_OBJECTS = {
  person: { metres: 1.75, label: 'person' },
  lighthouse: { metres: 30, label: 'lighthouse of 30\u00a0m' },
} as const

/** Cubes with an edge of at least this length, in metres, are shown next to the lighthouse. */
const MAX_EDGE_BESIDE_PERSON = 18

const MAX_HEIGHT = 88
const GROUND_Y = 108
const LEFT_X = 8

/** @param edgeM edge of the cube, metres */
export function drawGasCube(edgeM: number): GasCubeDrawing {
  const scaleObject = edgeM < MAX_EDGE_BESIDE_PERSON ? 'person' : 'lighthouse'
  const { metres, label } = SCALE_OBJECTS[scaleObject]
  const scale = MAX_HEIGHT / Math.max(edgeM, metres)
  const edge = roundToHundredths(Math.max(edgeM * scale, 2))
  const depth = roundToHundredths(edge * 0.3)
  const rise = roundToHundredths(depth * 0.55)
  const right = LEFT_X + edge
  return {
    scaleObject,
    scaleObjectLabel: label,
    scaleObjectTransform: `translate(${right + depth + 12} ${GROUND_Y}) scale(${roundToHundredths((metres * scale) / 100)})`,
    front: `M${LEFT_X} ${GROUND_Y}v${-edge}h${edge}v${edge}z`,
    side: `M${right} ${GROUND_Y}v${-edge}l${depth} ${-rise}v${edge}z`,
    top: `M${LEFT_X} ${GROUND_Y - edge}h${edge}l${depth} ${-rise}h${-edge}z`,
  }
}

const roundToHundredths = (value: number): number => Math.round(value * 100) / 100
