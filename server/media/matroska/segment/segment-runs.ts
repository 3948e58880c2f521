// Builds the runs of a segment: decode times, which Matroska does not store, and durations.
import type { SampleRun } from '../../media-reader.ts'
import { type Sample, makeSampleRun } from '../../sample-run.ts'
import { CLOCK_RATE, type AudioStreamInfo } from '../matroska-source.ts'
import { LONE_FRAME_TICKS } from '../scan/section-run.ts'
import type { FrameSample, AudioSample } from './segment-samples.ts'

/**
 * The video run. Decode times are the sorted presentation times minus the section's reorder delay,
 * or earlier, so that none exceeds its presentation time. `nextDecodeTicks`: first decode time of
 * the next segment.
 */
export function frameRun(
  frames: readonly FrameSample[],
  nextDecodeTicks: number | undefined,
): SampleRun | undefined {
  const sorted = Float64Array.from(frames, ({ presentationTicks }) => presentationTicks).sort()
  const samples: Sample[] = []
  let limit = Infinity
  for (let i = frames.length - 1; i >= 0; i -= 1) {
    const frame = frames[i]
    if (frame === undefined) continue
    const { offset, sizeBytes, presentationTicks, isKey, section } = frame
    limit = Math.min(limit - 1, presentationTicks, (sorted[i] ?? 0) - section.delayTicks)
    samples.push({ offset, sizeBytes, presentationTicks, decodeTicks: limit, isKey })
  }
  const last = samples[0]?.decodeTicks ?? 0
  return makeSampleRun(samples.toReversed(), {
    kind: 'video',
    timescale: CLOCK_RATE,
    nextDecodeTicks: nextDecodeTicks ?? last + lastDuration(frames, sorted),
  })
}

function lastDuration(frames: readonly FrameSample[], sorted: Float64Array): number {
  const declaredTicks = frames.at(-1)?.durationTicks ?? 0
  const before = (sorted.at(-1) ?? 0) - (sorted.at(-2) ?? Infinity)
  return declaredTicks || (before > 0 ? before : LONE_FRAME_TICKS)
}

/** The run of an audio track. `nextTicks`: start of the next segment, undefined if unknown. */
export function audioRun(
  stream: AudioStreamInfo,
  frames: readonly AudioSample[],
  nextTicks: number | undefined,
): SampleRun | undefined {
  const starts = fillStarts(frames, nextTicks)
  let earliest = 0
  const samples = frames.map(({ offset, sizeBytes }, i): Sample => {
    const ticks = Math.max(earliest, starts[i] ?? 0)
    earliest = ticks + 1
    return { offset, sizeBytes, decodeTicks: ticks, presentationTicks: ticks, isKey: true }
  })
  const length = frames.at(-1)?.lengthTicks ?? NaN
  const counted = Number.isNaN(length) ? undefined : (samples.at(-1)?.decodeTicks ?? 0) + length
  const nextDecodeTicks = nextTicks ?? counted
  return makeSampleRun(samples, {
    kind: 'audio',
    timescale: stream.timescale,
    ...(nextDecodeTicks !== undefined && { nextDecodeTicks }),
  })
}

/** Spreads frames without a time evenly up to the next frame with one. */
function fillStarts(frames: readonly AudioSample[], nextTicks: number | undefined): number[] {
  const starts = frames.map(({ startTicks }) => startTicks)
  let next = 0
  for (let i = 1; i < starts.length; i += 1) {
    if (!Number.isNaN(starts[i])) continue
    const before = starts[i - 1] ?? 0
    next = Math.max(next, i + 1)
    while (next < starts.length && Number.isNaN(starts[next])) next += 1
    const steps = next - i + 1
    const end = next === starts.length ? (nextTicks ?? before + steps) : (starts[next] ?? before)
    starts[i] = Math.round(before + (end - before) / steps)
  }
  return starts
}
