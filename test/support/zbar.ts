import { scanGrayBuffer } from '@undecaf/zbar-wasm'

/** A picture in shades of grey, 0 black to 255 white, row by row. */
export interface GrayPicture {
  width: number
  height: number
  pixels: Uint8Array
}

// What a camera sees: the code larger than its print, on paper that is light around it too.
const SMALLEST_SIGHT = 400
const PAPER = 0.1

function seenByCamera({ width, height, pixels }: GrayPicture): GrayPicture {
  const scale = Math.max(1, Math.round(SMALLEST_SIGHT / width))
  const border = Math.ceil(width * scale * PAPER)
  const toVisibleText: GrayPicture = {
    width: width * scale + 2 * border,
    height: height * scale + 2 * border,
    pixels: new Uint8Array((width * scale + 2 * border) * (height * scale + 2 * border)).fill(255),
  }
  for (let y = 0; y < height * scale; y++) {
    const from = Math.floor(y / scale) * width
    const to = (y + border) * toVisibleText.width + border
    for (let x = 0; x < width * scale; x++) {
      toVisibleText.pixels[to + x] = pixels[from + Math.floor(x / scale)] ?? 255
    }
  }
  return toVisibleText
}

/** The text of the QR code in a picture, as a reader that is not ours reads it; `null` for none. */
export async function readQrCode(picture: GrayPicture): Promise<string | null> {
  const { width, height, pixels } = seenByCamera(picture)
  const symbols = await scanGrayBuffer(pixels.buffer as ArrayBuffer, width, height)
  return symbols[0]?.decode() ?? null
}

/** An RGBA picture in shades of grey. */
export function toGray(width: number, height: number, rgba: Uint8Array): GrayPicture {
  const pixels = new Uint8Array(width * height)
  for (let i = 0; i < pixels.length; i++) {
    const [r = 0, g = 0, b = 0] = [rgba[4 * i], rgba[4 * i + 1], rgba[4 * i + 2]]
    pixels[i] = Math.round((r + g + b) / 3)
  }
  return { width, height, pixels }
}

/**
 * Draws the one kind of SVG that QR codes come as: a light plate, and one path of rectangles
 * `M x y h n v1 h-n z`. Throws at anything else, so that it cannot draw what a browser would not.
 */
export function drawSvg(svg: string): GrayPicture {
  const [, edgeText = '', dark = ''] =
    /^<svg [^>]*viewBox="0 0 (\d+) \1"[^>]*><path fill="#fff" d="M0 0h\1v\1H0z"\/><path d="((?:M\d+ \d+h\d+v1h-\d+z)*)"\/><\/svg>$/.exec(
      svg,
    ) ?? []
  const edge = Number(edgeText)
  if (edge === 0) throw new Error(`not an SVG of the kind expected: ${svg.slice(0, 200)}`)
  const pixels = new Uint8Array(edge * edge).fill(255)
  for (const [, x, y, run, back] of dark.matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g)) {
    if (run !== back) throw new Error('a rectangle does not close')
    const start = Number(y) * edge + Number(x)
    pixels.fill(0, start, start + Number(run))
  }
  return { width: edge, height: edge, pixels }
}
