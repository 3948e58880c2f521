// Lays placed sound on the output's grid: copied where it fits as it is, resampled where rate or drift ask for it.
import type { PlacedRun, Zone } from './align-audio.ts'
import { createInterpolator } from './interpolator.ts'
import type { Interpolator } from './interpolator.ts'

/** Samples `from` to `to` since the session's time 0, at the output's rate. */
export interface Canvas {
  sampleRate: number
  channels: number
  from: number
  to: number
}

/** Sound that ends or begins beside a gap fades over so many samples. */
const FADE_SAMPLES = 96

/** The canvas's samples per channel; silence where no run lies. Of runs that overlap, the later is heard. */
export function renderAudio(runs: readonly PlacedRun[], canvas: Canvas): Float32Array[] {
  const planes = Array.from(
    { length: canvas.channels },
    () => new Float32Array(canvas.to - canvas.from),
  )
  runs.forEach((run, number) => {
    const next = runs[number + 1]
    const own = extentOf(run, canvas)
    const end = next === undefined ? own.end : Math.min(own.end, extentOf(next, canvas).start)
    const window = {
      start: Math.max(own.start, canvas.from),
      end: Math.min(end, canvas.to),
    }
    if (window.start >= window.end) return
    renderRun(run, planes, { canvas, ...window })
    if (number > 0) fade(planes, { at: own.start - canvas.from, step: 1 })
    if (next !== undefined) fade(planes, { at: end - 1 - canvas.from, step: -1 })
  })
  return planes
}

/** The grid's samples that lie within the run. */
function extentOf({ zones, sampleRate }: PlacedRun, canvas: Canvas) {
  const [first] = zones
  const last = zones.at(-1)
  const toGrid = (position: number) => Math.ceil((position * canvas.sampleRate) / sampleRate)
  return {
    start: toGrid((first?.from ?? 0) + (first?.offset ?? 0)),
    end: toGrid((last?.to ?? 0) + (last?.offset ?? 0)),
  }
}

/** A stretch of a run over which its samples lie at even distances. */
interface Stretch {
  /** Numbers of samples in the run. */
  from: number
  to: number
  /** Their positions on the timeline, in samples of the run's rate. */
  start: number
  end: number
}

function stretchesOf(zones: readonly Zone[]): Stretch[] {
  return zones.flatMap(({ from, to, offset }, number) => {
    const zone = { from, to, start: from + offset, end: to + offset }
    const next = zones[number + 1]
    if (next === undefined || next.from <= to) return [zone]
    return [zone, { from: to, to: next.from, start: zone.end, end: next.from + next.offset }]
  })
}

interface RunWindow {
  canvas: Canvas
  /** Samples of the grid. */
  start: number
  end: number
}

function renderRun(
  run: PlacedRun,
  planes: Float32Array[],
  { canvas, start, end }: RunWindow,
): void {
  const ratio = run.sampleRate / canvas.sampleRate
  let interpolator: Interpolator | undefined
  let at = start
  const stretches = stretchesOf(run.zones)
  stretches.forEach((stretch, number) => {
    const isLast = number === stretches.length - 1
    const until = isLast ? end : Math.min(end, Math.ceil(stretch.end / ratio))
    if (until <= at) return
    const target = planes.map((plane) => plane.subarray(at - canvas.from, until - canvas.from))
    const speed = (stretch.to - stretch.from) / (stretch.end - stretch.start)
    const first = stretch.from + (at * ratio - stretch.start) * speed
    if (ratio === 1 && speed === 1) {
      copySamples(run.channels, target, first)
    } else {
      interpolator ??= createInterpolator(Math.min(1, 1 / ratio))
      interpolator.resample(run.channels, target, { first, step: ratio * speed })
    }
    at = until
  })
}

function copySamples(
  source: readonly Float32Array[],
  target: readonly Float32Array[],
  first: number,
): void {
  target.forEach((plane, channel) => {
    plane.set(source[channel]?.subarray(first, first + plane.length) ?? [])
  })
}

/** Fades in (step 1) from a sample on, or out (step -1) up to it. */
function fade(planes: readonly Float32Array[], { at, step }: { at: number; step: 1 | -1 }): void {
  for (const plane of planes) {
    for (let number = 0; number < FADE_SAMPLES; number += 1) {
      const place = at + number * step
      const value = plane[place]
      if (value !== undefined) plane[place] = value * (number / FADE_SAMPLES)
    }
  }
}
