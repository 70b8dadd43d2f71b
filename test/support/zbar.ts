import { scanGrayBuffer } from '@undecaf/zbar-wasm'

/** An 8-bit greyscale image, 0 black to 255 white, row by row. */
export interface GrayImage {
  width: number
  height: number
  pixels: Uint8Array
}

// A camera sees the code enlarged and surrounded by paper.
const MIN_WIDTH = 400
const BORDER_RATIO = 0.1

/** Enlarges an image to at least MIN_WIDTH and adds a white border. */
function simulateCamera({ width, height, pixels }: GrayImage): GrayImage {
  const scale = Math.max(1, Math.round(MIN_WIDTH / width))
  const border = Math.ceil(width * scale * BORDER_RATIO)
  const [outWidth, outHeight] = [width * scale + 2 * border, height * scale + 2 * border]
  const out = new Uint8Array(outWidth * outHeight).fill(255)
  for (let y = 0; y < height * scale; y++) {
    const from = Math.floor(y / scale) * width
    const to = (y + border) * outWidth + border
    for (let x = 0; x < width * scale; x++) {
      out[to + x] = pixels[from + Math.floor(x / scale)] ?? 255
    }
  }
  return { width: outWidth, height: outHeight, pixels: out }
}

/** Reads the QR code in an image with ZBar; `null` if it finds none. */
export async function readQrCode(image: GrayImage): Promise<string | null> {
  const { width, height, pixels } = simulateCamera(image)
  const symbols = await scanGrayBuffer(pixels.buffer as ArrayBuffer, width, height)
  return symbols[0]?.decode() ?? null
}

/** Converts RGBA to greyscale. */
export function toGray(width: number, height: number, rgba: Uint8Array): GrayImage {
  const pixels = new Uint8Array(width * height)
  for (let i = 0; i < pixels.length; i++) {
    const [r = 0, g = 0, b = 0] = [rgba[4 * i], rgba[4 * i + 1], rgba[4 * i + 2]]
    pixels[i] = Math.round((r + g + b) / 3)
  }
  return { width, height, pixels }
}

/**
 * Renders an SVG QR code: a white square, and one path of rectangles `M x y h n v1 h-n z`. Throws
 * for any other SVG, which it would not render as a browser does.
 */
export function drawSvg(svg: string): GrayImage {
  const [, sizeText = '', path = ''] =
    /^<svg [^>]*viewBox="0 0 (\d+) \1"[^>]*><path fill="#fff" d="M0 0h\1v\1H0z"\/><path d="((?:M\d+ \d+h\d+v1h-\d+z)*)"\/><\/svg>$/.exec(
      svg,
    ) ?? []
  const size = Number(sizeText)
  if (size === 0) throw new Error(`Unexpected SVG: ${svg.slice(0, 200)}`)
  const pixels = new Uint8Array(size * size).fill(255)
  for (const [, x, y, forward, back] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g)) {
    if (forward !== back) throw new Error('A rectangle is not closed')
    const start = Number(y) * size + Number(x)
    pixels.fill(0, start, start + Number(forward))
  }
  return { width: size, height: size, pixels }
}
