const SCALE_OBJECTS = {
  person: { metres: 1.75, label: 'person' },
  lighthouse: { metres: 30, label: 'lighthouse of 30\u00a0m' },
} as const

/** Cubes with an edge of at least this length, in metres, are shown next to the lighthouse. */
const MAX_EDGE_BESIDE_PERSON = 18

const VIEW_WIDTH = 360
const MAX_HEIGHT = 88
const GROUND_Y = 112
const GAP = 16
/** Half the width of a scale object that is drawn 100 units high */
const OBJECT_HALF_WIDTH = 16

const roundToHundredths = (value: number): number => Math.round(value * 100) / 100

/**
 * Draws a cube of gas next to an object of known height, as SVG paths in a 360 by 120 view box.
 *
 * @param edgeM edge of the cube, metres
 */
export function drawGasCube(edgeM: number) {
  const scaleObject = edgeM < MAX_EDGE_BESIDE_PERSON ? 'person' : 'lighthouse'
  const { metres, label } = SCALE_OBJECTS[scaleObject]
  const scale = MAX_HEIGHT / Math.max(edgeM, metres)
  const edge = roundToHundredths(Math.max(edgeM * scale, 2))
  const depth = roundToHundredths(edge * 0.3)
  const rise = roundToHundredths(depth * 0.55)
  const objectScale = roundToHundredths((metres * scale) / 100)
  const width = edge + depth + GAP + 2 * OBJECT_HALF_WIDTH * objectScale
  const left = roundToHundredths((VIEW_WIDTH - width) / 2)
  const right = roundToHundredths(left + edge)
  const objectX = roundToHundredths(right + depth + GAP + OBJECT_HALF_WIDTH * objectScale)
  return {
    scaleObject,
    scaleObjectLabel: label,
    /** The scale object is drawn 100 units high above its origin. */
    scaleObjectTransform: `translate(${objectX} ${GROUND_Y}) scale(${objectScale})`,
    front: `M${left} ${GROUND_Y}v${-edge}h${edge}v${edge}z`,
    side: `M${right} ${GROUND_Y}v${-edge}l${depth} ${-rise}v${edge}z`,
    top: `M${left} ${GROUND_Y - edge}h${edge}l${depth} ${-rise}h${-edge}z`,
  }
}
