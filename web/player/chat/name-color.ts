// Colours of names that are readable on the surface of the page, in both colour schemes. Pure.

/** `--color-surface` in `web/styles/tokens.css`. */
export const SURFACES = { light: '#ffffff', dark: '#1e1916' }
/** WCAG 2.2, 1.4.3. */
const MIN_CONTRAST = 4.5
/** Halvings of the change of lightness. */
const STEPS = 10

type Triple = readonly [number, number, number]

/** A value of CSS for a colour `#rrggbb`. */
export function nameColor(color: string): string {
  return `light-dark(${readableOn(color, SURFACES.light)}, ${readableOn(color, SURFACES.dark)})`
}

/**
 * The colour, or the one with the closest lightness in OKLab that is readable on a background. All
 * are `#rrggbb`.
 */
export function readableOn(color: string, background: string): string {
  if (contrastOf(color, background) >= MIN_CONTRAST) return color
  const direction = luminanceOf(background) > 0.18 ? -1 : 1
  const cones = multiply(TO_CONES, toLinear(color)).map(Math.cbrt)
  // At first black or white.
  let enough = 1
  let tooLittle = 0
  const at = (change: number) => toHex(cones.map((cone) => (cone + direction * change) ** 3))
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (enough + tooLittle) / 2
    if (contrastOf(at(middle), background) >= MIN_CONTRAST) enough = middle
    else tooLittle = middle
  }
  return at(enough)
}

/** The contrast ratio of WCAG 2.2 of two colours `#rrggbb`: 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminanceOf(color: string): number {
  const [red, green, blue] = toLinear(color)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/**
 * Björn Ottosson's OKLab without its last step: the same change of the cube roots of all cones
 * changes the lightness alone.
 */
const TO_CONES: readonly Triple[] = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
]
const FROM_CONES: readonly Triple[] = [
  [4.0767416621, -3.3077115913, 0.2309699292],
  [-1.2684380046, 2.6097574011, -0.3413193965],
  [-0.0041960863, -0.7034186147, 1.707614701],
]

function multiply(matrix: readonly Triple[], [x = 0, y = 0, z = 0]: readonly number[]): number[] {
  return matrix.map(([a, b, c]) => a * x + b * y + c * z)
}

function toLinear(color: string): Triple {
  const channel = (at: number) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [channel(1), channel(3), channel(5)]
}

function toHex(cones: readonly number[]): string {
  const channels = multiply(FROM_CONES, cones).map((linear) => {
    const value = Math.min(Math.max(linear, 0), 1)
    const encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055
    return Math.round(encoded * 255)
      .toString(16)
      .padStart(2, '0')
  })
  return `#${channels.join('')}`
}
