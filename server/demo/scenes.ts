// Animated scenes for the demo library. Every scene is a loop: everything moves by whole periods.
import { TURN } from './canvas.ts'
import type { Canvas } from './canvas.ts'
import { createRandom } from './random.ts'

/** Draws the whole canvas for a phase from 0 to 1; both ends look the same. */
export type Scene = (canvas: Canvas, phase: number) => void

export type SceneName = keyof typeof SCENES

/** Two thirds of the video's size: upscaling softens every edge. */
export const SCENE_SIZE = { width: 640, height: 304 } as const
const { width: WIDTH, height: HEIGHT } = SCENE_SIZE

/** Scenes by name; each takes a seed that determines its details. */
export const SCENES = {
  plasma: createPlasma,
  hills: createHills,
  grid: createGrid,
  warp: createWarp,
  orbs: createOrbs,
  tunnel: createTunnel,
  blocks: createBlocks,
  runner: createRunner,
  bars: createBars,
  city: createCity,
} satisfies Record<string, (seed: number) => Scene>

function times<Item>(count: number, make: (number: number) => Item): Item[] {
  return Array.from({ length: count }, (_, number) => make(number))
}

function sine(turns: number): number {
  return Math.sin(turns * TURN)
}

/** The part after the decimal point, also of negative numbers. */
function part(value: number): number {
  return value - Math.floor(value)
}

/** Slow clouds of colour. */
function createPlasma(seed: number): Scene {
  const random = createRandom(seed)
  const waves = times(4, (number) => ({
    across: (1 + Math.floor(random() * 3)) / WIDTH,
    down: (number % 2 === 0 ? 1 : -1) * ((1 + random() * 2) / HEIGHT),
    shift: random(),
    turns: number % 2 === 0 ? 1 : -1,
  }))
  return (canvas, phase) =>
    canvas.shade((x, y) => {
      let sum = 0
      for (const { across, down, shift, turns } of waves) {
        sum += sine(x * across + y * down + shift + phase * turns)
      }
      return 128 + sum * 30
    })
}

/** Layers of hills below a low sun. */
function createHills(seed: number): Scene {
  const random = createRandom(seed)
  const [x, y, radius] = [WIDTH * (0.25 + random() * 0.5), HEIGHT * 0.42, 34 + random() * 16]
  const layers = times(5, (depth) => ({
    base: HEIGHT * (0.48 + depth * 0.11),
    shifts: [random(), random(), random()],
    scroll: depth + 1,
    colour: 110 - depth * 25,
  }))
  return (canvas, phase) => {
    canvas.gradient([0, HEIGHT], [105, 235])
    const glow = 1 + 0.06 * sine(phase)
    canvas.circle([x, y, radius * glow * 1.5], 225)
    canvas.circle([x, y, radius * glow], 252)
    for (const layer of layers) drawRidge(canvas, layer, phase)
  }
}

interface Ridge {
  base: number
  shifts: number[]
  scroll: number
  colour: number
}

function drawRidge(canvas: Canvas, { base, shifts, scroll, colour }: Ridge, phase: number): void {
  const [one = 0, two = 0, three = 0] = shifts
  for (let x = 0; x < WIDTH; x++) {
    // A loop of two widths, so that a layer may move by half of one and return.
    const along = x / WIDTH + (scroll * phase) / 2
    const rise =
      sine(along * 2 + one) * 16 + sine(along * 4 + two) * 9 + sine(along * 10 + three) * 3
    canvas.box([x, base - rise, 1, HEIGHT], colour)
  }
}

/** A road of light towards a striped sun. */
function createGrid(seed: number): Scene {
  const random = createRandom(seed)
  const horizon = Math.round(HEIGHT * 0.56)
  const [sunX, sunY] = [WIDTH / 2 + (random() - 0.5) * 160, horizon - 46]
  const stars = times(60, () => [random() * WIDTH, random() * horizon * 0.7] as const)
  return (canvas, phase) => {
    canvas.gradient([0, horizon], [8, 120])
    for (const [x, y] of stars) canvas.box([x, y, 2, 2], 235)
    canvas.circle([sunX, sunY, 88], 205)
    for (let stripe = 0; stripe < 6; stripe++) {
      canvas.box([0, sunY - 18 + (stripe + phase) * 12, WIDTH, 1 + stripe], 90)
    }
    canvas.gradient([horizon, HEIGHT], [55, 18])
    for (let row = 1; row < HEIGHT - horizon; row++) {
      const [distance, near] = [60 / row, Math.min(1, row / 40)]
      const isCrossing = part(distance * 3 + phase * 4) < 0.08 + distance * 0.04
      if (isCrossing) canvas.box([0, horizon + row, WIDTH, 1], 120 + 110 * near)
      for (let line = -14; line <= 14; line++) {
        const x = WIDTH / 2 + (line * 70) / distance
        canvas.box([x - near, horizon + row, 1 + 2 * near, 1], 120 + 120 * near)
      }
    }
  }
}

/** A star field in motion. */
function createWarp(seed: number): Scene {
  const random = createRandom(seed)
  const nebula = createPlasma(seed + 7)
  const stars = times(260, () => ({
    angle: random() * TURN,
    spread: 0.15 + random() * 0.85,
    depth: random(),
  }))
  return (canvas, phase) => {
    nebula(canvas, 0)
    canvas.pixels.forEach((colour, at) => (canvas.pixels[at] = colour * 0.45))
    for (const star of stars) {
      const depth = 1 - part(star.depth + phase * 2)
      for (let tail = 0; tail < 4; tail++) {
        const distance = (star.spread * 46) / (depth + 0.06 + tail * 0.012)
        const size = (1 - depth) * 3.4 + 0.8
        const x = WIDTH / 2 + Math.cos(star.angle) * distance
        const y = HEIGHT / 2 + Math.sin(star.angle) * distance * 0.7
        canvas.box([x, y, size, size], 255 - tail * 38 - depth * 60)
      }
    }
  }
}

/** Glowing drops that merge. */
function createOrbs(seed: number): Scene {
  const random = createRandom(seed)
  const orbs = times(7, () => ({
    shiftX: random(),
    shiftY: random(),
    size: 500 + random() * 1500,
    turnsX: random() < 0.5 ? 1 : -1,
    turnsY: random() < 0.3 ? 2 : 1,
  }))
  return (canvas, phase) => {
    const places = orbs.map((orb) => ({
      left: WIDTH * (0.5 + 0.4 * sine(orb.shiftX + phase * orb.turnsX)),
      top: HEIGHT * (0.5 + 0.38 * sine(orb.shiftY + phase * orb.turnsY)),
      size: orb.size,
    }))
    canvas.shade((x, y) => {
      let sum = 0
      for (const { left, top, size } of places) {
        sum += size / ((x - left) * (x - left) + (y - top) * (y - top) + 90)
      }
      return Math.min(250, 18 + 150 * sum)
    })
  }
}

/** A flight through rings. */
function createTunnel(seed: number): Scene {
  const random = createRandom(seed)
  const [left, top] = [WIDTH * (0.35 + random() * 0.3), HEIGHT * (0.4 + random() * 0.2)]
  const petals = 3 + Math.floor(random() * 5)
  return (canvas, phase) =>
    canvas.shade((x, y) => {
      const depth = Math.log(Math.hypot(x - left, (y - top) * 1.3) + 6) * 1.6
      const angle = (Math.atan2(y - top, x - left) / TURN) * petals
      const light = sine(depth - phase * 2) * 34 + sine(angle + depth * 0.5 + phase) * 38
      return (depth - 3) * 22 + 40 + light
    })
}

/** A game of falling blocks. */
function createBlocks(seed: number): Scene {
  const random = createRandom(seed)
  const [size, columns, rows] = [19, 14, 16]
  const left = (WIDTH - size * columns) / 2
  const heap = times(columns, () => 2 + Math.floor(random() * 5))
  const colours = times(columns * rows, () => 120 + Math.floor(random() * 5) * 30)
  const falling = times(3, (number) => ({
    column: 1 + number * 4 + Math.floor(random() * 3),
    start: random(),
    colour: 130 + number * 45,
  }))
  return (canvas, phase) => {
    const drawBlock = (column: number, y: number, colour: number) => {
      const x = left + column * size
      canvas.box([x + 1, y + 1, size - 2, size - 2], colour - 30)
      canvas.box([x + 1, y + 1, size - 5, size - 5], colour)
      canvas.box([x + 3, y + 3, size - 12, 3], Math.min(255, colour + 30))
    }
    canvas.shade((x, y) => (part((x + y) / 80 + phase * 2) < 0.5 ? 52 : 60))
    canvas.box([left - 8, 0, size * columns + 16, HEIGHT], 92)
    canvas.box([left - 4, 0, size * columns + 8, HEIGHT], 10)
    heap.forEach((height, column) => {
      for (let row = 0; row < height; row++) {
        drawBlock(column, HEIGHT - 8 - (row + 1) * size, colours[column * rows + row] ?? 0)
      }
    })
    for (const { column, start, colour } of falling) {
      const y = Math.round((part(start + phase) * HEIGHT * 0.62) / size - 2) * size
      for (const across of [-1, 0, 1]) drawBlock(column + across, y, colour)
      drawBlock(column, y + size, colour)
    }
  }
}

/** A run over platforms. */
function createRunner(seed: number): Scene {
  const random = createRandom(seed)
  const shift = () => [random(), random()]
  const far = { base: HEIGHT * 0.6, shifts: [...shift(), 0.2], scroll: 1, colour: 150 }
  const near = { base: HEIGHT * 0.74, shifts: [...shift(), 0.7], scroll: 2, colour: 112 }
  const platforms = times(7, (number) => ({
    start: number / 7,
    y: HEIGHT * (0.38 + random() * 0.26),
    width: 58 + random() * 50,
  }))
  return (canvas, phase) => {
    canvas.gradient([0, HEIGHT], [175, 232])
    drawRidge(canvas, far, phase)
    drawRidge(canvas, near, phase)
    canvas.box([0, HEIGHT - 46, WIDTH, 46], 40)
    for (let tile = -1; tile < 18; tile++) {
      canvas.box([(tile - part(phase * 12)) * 40, HEIGHT - 46, 36, 9], 86)
    }
    for (const { start, y, width } of platforms) {
      const x = WIDTH * 1.5 * part(start - phase) - 110
      canvas.box([x, y, width, 12], 30)
      canvas.box([x, y, width, 4], 92)
      canvas.circle([x + width / 2, y - 22 + 3 * sine(phase * 6 + start), 7], 252)
    }
    const hop = part(phase * 4)
    const y = HEIGHT - 80 - 4 * hop * (1 - hop) * 70
    canvas.box([180, y, 30, 34], 6)
    canvas.box([183, y + 3, 24, 28], 70)
    canvas.box([196, y + 8, 5, 8], 255)
  }
}

/** Equalizer bars. */
function createBars(seed: number): Scene {
  const random = createRandom(seed)
  const count = 40
  const bars = times(count, (number) => ({
    shift: random(),
    beats: 2 + Math.floor(random() * 4),
    weight: 0.45 + 0.55 * Math.sin((number / (count - 1)) * Math.PI),
  }))
  const middle = HEIGHT * 0.52
  return (canvas, phase) => {
    canvas.gradient([0, HEIGHT], [12, 62])
    const pulse = 0.5 + 0.5 * sine(phase * 6)
    canvas.circle([WIDTH / 2, middle, 120 + pulse * 16], 66)
    canvas.circle([WIDTH / 2, middle, 84 + pulse * 10], 84)
    bars.forEach(({ shift, beats, weight }, number) => {
      const beat = 0.55 + 0.28 * sine(shift + phase * beats) + 0.17 * sine(phase * 6)
      const slice = (beat * weight * HEIGHT * 0.42) / 6
      const x = 24 + number * ((WIDTH - 48) / count)
      for (let step = 0; step < 6; step++) {
        canvas.box([x, middle - (step + 1) * slice, 10, slice - 1], 120 + step * 26)
        canvas.box([x, middle + step * slice, 10, slice - 1], 104 + step * 18)
      }
    })
  }
}

/** A city at night in falling snow. */
function createCity(seed: number): Scene {
  const random = createRandom(seed)
  const houses = times(22, (number) => ({
    left: number * 30 - 8,
    width: 24 + random() * 20,
    height: 70 + random() * 130,
    colour: 26 + Math.floor(random() * 22),
    windows: times(60, random),
  }))
  const flakes = times(150, () => [random(), random(), 1 + random() * 2.4] as const)
  return (canvas, phase) => {
    canvas.gradient([0, HEIGHT], [40, 150])
    canvas.circle([WIDTH * 0.78, 66, 30], 240)
    for (const { left, width, height, colour, windows } of houses) {
      canvas.box([left, HEIGHT - height, width, height], colour)
      windows.forEach((light, number) => {
        const x = left + 4 + (number % 4) * 8
        const y = HEIGHT - height + 8 + Math.floor(number / 4) * 12
        if (x + 5 > left + width || y > HEIGHT - 12) return
        const isLit = light < 0.4 || (light < 0.45 && sine(phase + light * 20) > 0)
        canvas.box([x, y, 4, 6], isLit ? 215 : colour + 10)
      })
    }
    for (const [across, down, size] of flakes) {
      const y = part(down + phase * (size > 2.2 ? 2 : 1)) * HEIGHT
      canvas.box([across * WIDTH + 9 * sine(phase + down), y, size, size], 250)
    }
  }
}
