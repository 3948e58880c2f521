// Renders placed audio on the output grid: copies it, or resamples it where rate or drift require
// that.
import type { PlacedRun, Zone } from './align-audio.ts'
import { createInterpolator } from './interpolator.ts'
import type { Interpolator } from './interpolator.ts'

/** Samples `from` to `to` since session time 0, at the output rate. */
export interface OutputRange {
  sampleRate: number
  channels: number
  from: number
  to: number
}

/** Length of the fade of audio next to a gap. */
const FADE_SAMPLES = 96

/**
 * The output samples per channel, silent where there is no run. If runs overlap, the later one
 * wins.
 */
export function renderAudio(runs: readonly PlacedRun[], output: OutputRange): Float32Array[] {
  const planes = Array.from(
    { length: output.channels },
    () => new Float32Array(output.to - output.from),
  )
  runs.forEach((run, number) => {
    const next = runs[number + 1]
    const extent = extentOf(run, output)
    const end = next === undefined ? extent.end : Math.min(extent.end, extentOf(next, output).start)
    const window = {
      start: Math.max(extent.start, output.from),
      end: Math.min(end, output.to),
    }
    if (window.start >= window.end) return
    renderRun(run, planes, { output, ...window })
    if (number > 0) fade(planes, { at: extent.start - output.from, step: 1 })
    if (next !== undefined) fade(planes, { at: end - 1 - output.from, step: -1 })
  })
  return planes
}

/** The output samples within the run. */
function extentOf({ zones, sampleRate }: PlacedRun, output: OutputRange) {
  const [first] = zones
  const last = zones.at(-1)
  const toGrid = (position: number) => Math.ceil((position * output.sampleRate) / sampleRate)
  return {
    start: toGrid((first?.from ?? 0) + (first?.offset ?? 0)),
    end: toGrid((last?.to ?? 0) + (last?.offset ?? 0)),
  }
}

/** A span of a run with a constant distance between samples. */
interface LinearSpan {
  /** Sample numbers in the run. */
  from: number
  to: number
  /** Their positions on the timeline, in samples at the run's rate. */
  start: number
  end: number
}

function linearSpans(zones: readonly Zone[]): LinearSpan[] {
  return zones.flatMap(({ from, to, offset }, number) => {
    const zone = { from, to, start: from + offset, end: to + offset }
    const next = zones[number + 1]
    if (next === undefined || next.from <= to) return [zone]
    return [zone, { from: to, to: next.from, start: zone.end, end: next.from + next.offset }]
  })
}

interface RunWindow {
  output: OutputRange
  /** Output samples. */
  start: number
  end: number
}

function renderRun(
  run: PlacedRun,
  planes: Float32Array[],
  { output, start, end }: RunWindow,
): void {
  const ratio = run.sampleRate / output.sampleRate
  let interpolator: Interpolator | undefined
  let at = start
  const spans = linearSpans(run.zones)
  spans.forEach((span, number) => {
    const isLast = number === spans.length - 1
    const spanEnd = isLast ? end : Math.min(end, Math.ceil(span.end / ratio))
    if (spanEnd <= at) return
    const target = planes.map((plane) => plane.subarray(at - output.from, spanEnd - output.from))
    const speed = (span.to - span.from) / (span.end - span.start)
    const first = span.from + (at * ratio - span.start) * speed
    if (ratio === 1 && speed === 1) {
      copySamples(run.channels, target, first)
    } else {
      interpolator ??= createInterpolator(Math.min(1, 1 / ratio))
      interpolator.resample(run.channels, target, { first, step: ratio * speed })
    }
    at = spanEnd
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

/** Fades in from a sample (step 1), or out up to it (step -1). */
function fade(planes: readonly Float32Array[], { at, step }: { at: number; step: 1 | -1 }): void {
  for (const plane of planes) {
    for (let number = 0; number < FADE_SAMPLES; number += 1) {
      const position = at + number * step
      const value = plane[position]
      if (value !== undefined) plane[position] = value * (number / FADE_SAMPLES)
    }
  }
}
