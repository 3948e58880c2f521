// Colours of a scene: 256 steps between a few stops, as YUV components.

/** 256 colours as Y, U and V (BT.709, limited range). */
export interface Palette {
  y: Uint8Array
  u: Uint8Array
  v: Uint8Array
}

/** Interpolates evenly between stops, given as `rrggbb`. */
export function createPalette(stops: readonly string[]): Palette {
  const colours = stops.map((stop) =>
    [0, 2, 4].map((at) => Number.parseInt(stop.slice(at, at + 2), 16)),
  )
  const palette: Palette = {
    y: new Uint8Array(256),
    u: new Uint8Array(256),
    v: new Uint8Array(256),
  }
  for (let step = 0; step < 256; step++) {
    const place = (step / 255) * (colours.length - 1)
    const below = Math.min(Math.floor(place), colours.length - 2)
    const part = place - below
    const channel = (which: number) =>
      (colours[below]?.[which] ?? 0) * (1 - part) + (colours[below + 1]?.[which] ?? 0) * part
    const [red, green, blue] = [channel(0), channel(1), channel(2)]
    // Rec. ITU-R BT.709-6, 3.4 and 3.5, with 8 bits.
    palette.y[step] = Math.round(16 + 0.1826 * red + 0.6142 * green + 0.062 * blue)
    palette.u[step] = Math.round(128 - 0.1006 * red - 0.3386 * green + 0.4392 * blue)
    palette.v[step] = Math.round(128 + 0.4392 * red - 0.3989 * green - 0.0403 * blue)
  }
  return palette
}

export const PALETTES: Record<string, readonly string[]> = {
  dusk: ['12082b', '3a1466', '8f2d80', 'e8556d', 'ffb26b', 'fff3c9'],
  ocean: ['02101f', '07364f', '0e6b7d', '29b3a8', '9be8c7', 'f4fff0'],
  ember: ['0d0505', '3c0d0a', '8c1c0e', 'e2501a', 'ffb13d', 'fff4cf'],
  forest: ['04120c', '0d3322', '1f6b3a', '63a83f', 'c8db62', 'fdf8cf'],
  neon: ['05030f', '1d0f4a', '4b1fb0', 'b32fd6', 'ff4fa3', 'a6f6ff'],
  arctic: ['06121f', '173a5c', '3e7ca8', '86bfdb', 'cfe9f0', 'ffffff'],
  candy: ['2a0d2e', '7a1f5c', 'e0457b', 'ff8fa3', 'ffd1c9', 'fff8ef'],
  gold: ['100a04', '3d2508', '8a5610', 'd69a25', 'f6d868', 'fffbe0'],
  aurora: ['030818', '0a2540', '0f6a6c', '2fd28a', 'a58bff', 'f3e8ff'],
  berry: ['0f0418', '34104d', '6c1d73', 'b83a7e', 'f2856f', 'ffe0a8'],
  steel: ['080b10', '1e2733', '42536b', '7d93ab', 'c0cedb', 'f7fafc'],
  citrus: ['0a1a10', '1d5138', '6fa03a', 'e2c22f', 'ff9b3d', 'fff0d6'],
}
