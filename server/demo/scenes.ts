// Animated scenes for the demo library. Every scene is a loop: everything moves by whole periods.
import {
  CANVAS_HEIGHT as HEIGHT,
  CANVAS_WIDTH as WIDTH,
  fillBox,
  fillCircle,
  fillGradient,
  TURN,
} from './canvas.ts'
import type { Scene } from './canvas.ts'
import { createRandom } from './random.ts'

export type SceneName = keyof typeof SCENES

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

/** Slow clouds of colour. */
function createPlasma(seed: number): Scene {
  const random = createRandom(seed)
  const waves = Array.from({ length: 4 }, (_, number) => ({
    across: (1 + Math.floor(random() * 3)) / WIDTH,
    down: (number % 2 === 0 ? 1 : -1) * ((1 + random() * 2) / HEIGHT),
    shift: random(),
    turns: number % 2 === 0 ? 1 : -1,
  }))
  return (canvas, phase) => {
    for (let y = 0; y < HEIGHT; y += 2) {
      for (let x = 0; x < WIDTH; x += 2) {
        let sum = 0
        for (const wave of waves) {
          sum += sine(x * wave.across + y * wave.down + wave.shift + phase * wave.turns)
        }
        fillFour(canvas, y * WIDTH + x, 128 + sum * 30)
      }
    }
  }
}

/** Fills 2 x 2 pixels: smooth areas need no more. */
function fillFour(canvas: Uint8Array, at: number, colour: number): void {
  canvas[at] = canvas[at + 1] = canvas[at + WIDTH] = canvas[at + WIDTH + 1] = colour
}

const SINES = Float32Array.from({ length: 1024 }, (_, step) => Math.sin((step / 1024) * TURN))

/** Sine of a number of turns, from a table. */
function sine(turns: number): number {
  return SINES[((turns - Math.floor(turns)) * 1024) | 0] ?? 0
}

/** Layers of hills below a low sun. */
function createHills(seed: number): Scene {
  const random = createRandom(seed)
  const sun = { x: WIDTH * (0.25 + random() * 0.5), y: HEIGHT * 0.42, radius: 34 + random() * 16 }
  const layers = Array.from({ length: 5 }, (_, depth) => ({
    base: HEIGHT * (0.48 + depth * 0.11),
    shifts: [random(), random(), random()],
    scroll: depth + 1,
    colour: 110 - depth * 25,
  }))
  return (canvas, phase) => {
    fillGradient(canvas, { top: 0, bottom: HEIGHT }, { from: 105, to: 235 })
    const glow = 1 + 0.06 * sine(phase)
    fillCircle(canvas, { ...sun, radius: sun.radius * glow * 1.5 }, 225)
    fillCircle(canvas, { ...sun, radius: sun.radius * glow }, 252)
    for (const layer of layers) drawRidge(canvas, layer, phase)
  }
}

interface Ridge {
  base: number
  shifts: number[]
  scroll: number
  colour: number
}

function drawRidge(canvas: Uint8Array, ridge: Ridge, phase: number): void {
  const [one = 0, two = 0, three = 0] = ridge.shifts
  for (let x = 0; x < WIDTH; x++) {
    const along = x / WIDTH + (ridge.scroll * phase) / 2
    // A loop of two widths, so that a layer may move by half of one and return.
    const rise =
      sine(along * 2 + one) * 16 + sine(along * 4 + two) * 9 + sine(along * 10 + three) * 3
    for (let y = Math.max(0, Math.round(ridge.base - rise)); y < HEIGHT; y++) {
      canvas[y * WIDTH + x] = ridge.colour
    }
  }
}

/** A road of light towards a striped sun. */
function createGrid(seed: number): Scene {
  const random = createRandom(seed)
  const horizon = Math.round(HEIGHT * 0.56)
  const sun = { x: WIDTH / 2 + (random() - 0.5) * 160, y: horizon - 46, radius: 88 }
  const stars = Array.from({ length: 60 }, () => [random() * WIDTH, random() * horizon * 0.7])
  return (canvas, phase) => {
    fillGradient(canvas, { top: 0, bottom: horizon }, { from: 8, to: 120 })
    for (const [x = 0, y = 0] of stars) fillBox(canvas, { x, y, width: 2, height: 2 }, 235)
    fillCircle(canvas, sun, 205)
    for (let stripe = 0; stripe < 6; stripe++) {
      const y = sun.y - 18 + (stripe + phase) * 12
      fillBox(canvas, { x: 0, y, width: WIDTH, height: 1 + stripe }, 90)
    }
    fillGradient(canvas, { top: horizon, bottom: HEIGHT }, { from: 55, to: 18 })
    for (let y = horizon + 1; y < HEIGHT; y++) drawRoadRow(canvas, { y, horizon, phase })
  }
}

function drawRoadRow(
  canvas: Uint8Array,
  { y, horizon, phase }: { y: number; horizon: number; phase: number },
): void {
  const distance = 60 / (y - horizon)
  const nearness = Math.min(1, (y - horizon) / 40)
  const across = distance * 3 + phase * 4
  if (across - Math.floor(across) < 0.08 + distance * 0.04) {
    canvas.fill(120 + 110 * nearness, y * WIDTH, (y + 1) * WIDTH)
  }
  for (let line = -14; line <= 14; line++) {
    const x = WIDTH / 2 + (line * 70) / distance
    fillBox(
      canvas,
      { x: x - nearness, y, width: 1 + 2 * nearness, height: 1 },
      120 + 120 * nearness,
    )
  }
}

/** A star field in motion. */
function createWarp(seed: number): Scene {
  const random = createRandom(seed)
  const nebula = createPlasma(seed + 7)
  const back = new Uint8Array(WIDTH * HEIGHT)
  nebula(back, 0)
  for (let at = 0; at < back.length; at++) back[at] = ((back[at] ?? 0) * 0.45) | 0
  const stars = Array.from({ length: 260 }, () => ({
    angle: random() * TURN,
    spread: 0.15 + random() * 0.85,
    depth: random(),
  }))
  return (canvas, phase) => {
    canvas.set(back)
    for (const star of stars) {
      const depth = 1 - ((star.depth + phase * 2) % 1)
      for (let tail = 0; tail < 4; tail++) {
        const distance = (star.spread * 46) / (depth + 0.06 + tail * 0.012)
        const size = (1 - depth) * 3.4 + 0.8
        const x = WIDTH / 2 + Math.cos(star.angle) * distance
        const y = HEIGHT / 2 + Math.sin(star.angle) * distance * 0.7
        fillBox(canvas, { x, y, width: size, height: size }, 255 - tail * 38 - depth * 60)
      }
    }
  }
}

/** Glowing drops that merge. */
function createOrbs(seed: number): Scene {
  const random = createRandom(seed)
  const orbs = Array.from({ length: 7 }, () => ({
    shiftX: random(),
    shiftY: random(),
    size: 500 + random() * 1500,
    turnsX: random() < 0.5 ? 1 : -1,
    turnsY: random() < 0.3 ? 2 : 1,
  }))
  return (canvas, phase) => {
    const places = orbs.map((orb) => ({
      x: WIDTH * (0.5 + 0.4 * sine(orb.shiftX + phase * orb.turnsX)),
      y: HEIGHT * (0.5 + 0.38 * sine(orb.shiftY + phase * orb.turnsY)),
      size: orb.size,
    }))
    for (let y = 0; y < HEIGHT; y += 2) {
      for (let x = 0; x < WIDTH; x += 2) {
        let sum = 0
        for (const orb of places) {
          sum += orb.size / ((x - orb.x) * (x - orb.x) + (y - orb.y) * (y - orb.y) + 90)
        }
        fillFour(canvas, y * WIDTH + x, Math.min(250, 18 + 150 * sum))
      }
    }
  }
}

/** A flight through rings. */
function createTunnel(seed: number): Scene {
  const random = createRandom(seed)
  const [centreX, centreY] = [WIDTH * (0.35 + random() * 0.3), HEIGHT * (0.4 + random() * 0.2)]
  const petals = 3 + Math.floor(random() * 5)
  const depths = new Float32Array(WIDTH * HEIGHT)
  const angles = new Float32Array(WIDTH * HEIGHT)
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const distance = Math.hypot(x - centreX, (y - centreY) * 1.3)
      depths[y * WIDTH + x] = Math.log(distance + 6) * 1.6
      angles[y * WIDTH + x] = (Math.atan2(y - centreY, x - centreX) / TURN) * petals
    }
  }
  return (canvas, phase) => {
    for (let at = 0; at < canvas.length; at++) {
      const depth = depths[at] ?? 0
      const ring = sine(depth - phase * 2)
      const petal = sine((angles[at] ?? 0) + depth * 0.5 + phase)
      canvas[at] = Math.min(255, Math.max(0, (depth - 3) * 22 + 40 + ring * 34 + petal * 38))
    }
  }
}

/** A game of falling blocks. */
function createBlocks(seed: number): Scene {
  const random = createRandom(seed)
  const [size, columns, rows] = [19, 14, 16]
  const left = (WIDTH - size * columns) / 2
  const heap = Array.from({ length: columns }, () => 2 + Math.floor(random() * 5))
  const colours = Array.from({ length: columns * rows }, () => 120 + Math.floor(random() * 5) * 30)
  const falling = Array.from({ length: 3 }, (_, number) => ({
    column: 1 + number * 4 + Math.floor(random() * 3),
    start: random(),
    colour: 130 + number * 45,
  }))
  return (canvas, phase) => {
    drawSlantedBack(canvas, phase)
    fillBox(canvas, { x: left - 8, y: 0, width: size * columns + 16, height: HEIGHT }, 92)
    fillBox(canvas, { x: left - 4, y: 0, width: size * columns + 8, height: HEIGHT }, 10)
    heap.forEach((height, column) => {
      for (let row = 0; row < height; row++) {
        const box = { x: left + column * size, y: HEIGHT - 8 - (row + 1) * size }
        drawBlock(canvas, { ...box, size }, colours[column * rows + row] ?? 0)
      }
    })
    for (const block of falling) {
      const y = ((block.start + phase) % 1) * HEIGHT * 0.62 - size * 2
      const stepped = Math.round(y / size) * size
      for (const [dx, dy] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [-1, 0],
      ] as const) {
        const box = { x: left + (block.column + dx) * size, y: stepped + dy * size }
        drawBlock(canvas, { ...box, size }, block.colour)
      }
    }
  }
}

function drawSlantedBack(canvas: Uint8Array, phase: number): void {
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const band = (x + y) / 80 + phase * 2
      canvas[y * WIDTH + x] = band - Math.floor(band) < 0.5 ? 52 : 60
    }
  }
}

function drawBlock(
  canvas: Uint8Array,
  box: { x: number; y: number; size: number },
  colour: number,
): void {
  const { x, y, size } = box
  fillBox(canvas, { x: x + 1, y: y + 1, width: size - 2, height: size - 2 }, colour - 30)
  fillBox(canvas, { x: x + 1, y: y + 1, width: size - 5, height: size - 5 }, colour)
  fillBox(canvas, { x: x + 3, y: y + 3, width: size - 12, height: 3 }, Math.min(255, colour + 30))
}

/** A run over platforms. */
function createRunner(seed: number): Scene {
  const random = createRandom(seed)
  const span = WIDTH * 1.5
  const far: Ridge = {
    base: HEIGHT * 0.6,
    shifts: [random(), random(), 0.2],
    scroll: 1,
    colour: 150,
  }
  const near: Ridge = {
    base: HEIGHT * 0.74,
    shifts: [random(), random(), 0.7],
    scroll: 2,
    colour: 112,
  }
  const platforms = Array.from({ length: 7 }, (_, number) => ({
    x: (number / 7) * span,
    y: HEIGHT * (0.38 + random() * 0.26),
    width: 58 + random() * 50,
  }))
  return (canvas, phase) => {
    fillGradient(canvas, { top: 0, bottom: HEIGHT }, { from: 175, to: 232 })
    drawRidge(canvas, far, phase)
    drawRidge(canvas, near, phase)
    fillBox(canvas, { x: 0, y: HEIGHT - 46, width: WIDTH, height: 46 }, 40)
    for (let tile = -1; tile < 18; tile++) {
      const x = tile * 40 - ((phase * 12) % 1) * 40
      fillBox(canvas, { x, y: HEIGHT - 46, width: 36, height: 9 }, 86)
    }
    for (const platform of platforms) {
      const x = ((platform.x - phase * span + 2 * span) % span) - 110
      fillBox(canvas, { x, y: platform.y, width: platform.width, height: 12 }, 30)
      fillBox(canvas, { x, y: platform.y, width: platform.width, height: 4 }, 92)
      const bob = platform.y - 22 + 3 * sine(phase * 6 + platform.x / span)
      fillCircle(canvas, { x: x + platform.width / 2, y: bob, radius: 7 }, 252)
    }
    drawHero(canvas, phase)
  }
}

function drawHero(canvas: Uint8Array, phase: number): void {
  const hop = (phase * 4) % 1
  const y = HEIGHT - 80 - 4 * hop * (1 - hop) * 70
  fillBox(canvas, { x: 180, y, width: 30, height: 34 }, 6)
  fillBox(canvas, { x: 183, y: y + 3, width: 24, height: 28 }, 70)
  fillBox(canvas, { x: 196, y: y + 8, width: 5, height: 8 }, 255)
}

/** Equalizer bars. */
function createBars(seed: number): Scene {
  const random = createRandom(seed)
  const count = 40
  const bars = Array.from({ length: count }, (_, number) => ({
    shift: random(),
    beats: 2 + Math.floor(random() * 4),
    weight: 0.45 + 0.55 * Math.sin((number / (count - 1)) * Math.PI),
  }))
  return (canvas, phase) => {
    fillGradient(canvas, { top: 0, bottom: HEIGHT }, { from: 12, to: 62 })
    const pulse = 0.5 + 0.5 * sine(phase * 6)
    fillCircle(canvas, { x: WIDTH / 2, y: HEIGHT * 0.52, radius: 120 + pulse * 16 }, 66)
    fillCircle(canvas, { x: WIDTH / 2, y: HEIGHT * 0.52, radius: 84 + pulse * 10 }, 84)
    bars.forEach((bar, number) => {
      const beat = 0.55 + 0.28 * sine(bar.shift + phase * bar.beats) + 0.17 * sine(phase * 6)
      const height = beat * bar.weight * HEIGHT * 0.42
      const x = 24 + number * ((WIDTH - 48) / count)
      for (let part = 0; part < 6; part++) {
        const slice = height / 6
        const box = { x, width: 10, height: slice - 1 }
        fillBox(canvas, { ...box, y: HEIGHT * 0.52 - (part + 1) * slice }, 120 + part * 26)
        fillBox(canvas, { ...box, y: HEIGHT * 0.52 + part * slice }, 104 + part * 18)
      }
    })
  }
}

/** A city at night in falling snow. */
function createCity(seed: number): Scene {
  const random = createRandom(seed)
  const houses = Array.from({ length: 22 }, (_, number) => ({
    x: number * 30 - 8,
    width: 24 + random() * 20,
    height: 70 + random() * 130,
    colour: 26 + Math.floor(random() * 22),
    windows: Array.from({ length: 60 }, () => random()),
  }))
  const flakes = Array.from({ length: 150 }, () => ({
    x: random(),
    y: random(),
    size: 1 + random() * 2.4,
  }))
  return (canvas, phase) => {
    fillGradient(canvas, { top: 0, bottom: HEIGHT }, { from: 40, to: 150 })
    fillCircle(canvas, { x: WIDTH * 0.78, y: 66, radius: 30 }, 240)
    for (const house of houses) drawHouse(canvas, house, phase)
    for (const flake of flakes) {
      const speed = flake.size > 2.2 ? 2 : 1
      const y = ((flake.y + phase * speed) % 1) * HEIGHT
      const x = flake.x * WIDTH + 9 * sine(phase + flake.y)
      fillBox(canvas, { x, y, width: flake.size, height: flake.size }, 250)
    }
  }
}

interface House {
  x: number
  width: number
  height: number
  colour: number
  windows: number[]
}

function drawHouse(canvas: Uint8Array, house: House, phase: number): void {
  fillBox(canvas, { ...house, y: HEIGHT - house.height }, house.colour)
  house.windows.forEach((light, number) => {
    const [column, row] = [number % 4, Math.floor(number / 4)]
    const [x, y] = [house.x + 4 + column * 8, HEIGHT - house.height + 8 + row * 12]
    if (x + 5 > house.x + house.width || y > HEIGHT - 12) return
    const isLit = light < 0.4 || (light < 0.45 && sine(phase + light * 20) > 0)
    fillBox(canvas, { x, y, width: 4, height: 6 }, isLit ? 215 : house.colour + 10)
  })
}
