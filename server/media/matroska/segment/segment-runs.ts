// Makes the runs of a segment from its frames: decode times, which Matroska does not have, and durations.
import type { SampleRun } from '../../media-reader.ts'
import { type Sample, makeSampleRun } from '../../sample-run.ts'
import { CLOCK_RATE, type AudioStreamInfo } from '../matroska-source.ts'
import { LONE_FRAME_TICKS } from '../scan/section-run.ts'
import type { FrameSample, AudioSample } from './segment-samples.ts'

/**
 * The pictures' run. Decode times are the presentation times in order, less the section's delay; where that is too little
 * they come still earlier, so that no picture is decoded after it is shown. `nextDecodeTicks`: where the next segment goes on.
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
  const told = frames.at(-1)?.durationTicks ?? 0
  const before = (sorted.at(-1) ?? 0) - (sorted.at(-2) ?? Infinity)
  return told || (before > 0 ? before : LONE_FRAME_TICKS)
}

/** The run of a sound; `nextTicks`: where the next segment goes on, undefined where that is not told. */
export function audioRun(
  stream: AudioStreamInfo,
  frames: readonly AudioSample[],
  nextTicks: number | undefined,
): SampleRun | undefined {
  const starts = filledStarts(frames, nextTicks)
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

/** Frames without a time of their own are spread evenly up to the next that has one. */
function filledStarts(frames: readonly AudioSample[], nextTicks: number | undefined): number[] {
  const starts = frames.map(({ startTicks }) => startTicks)
  for (let i = 1; i < starts.length; i += 1) {
    if (!Number.isNaN(starts[i])) continue
    const before = starts[i - 1] ?? 0
    const behind = starts.findIndex((start, at) => at > i && !Number.isNaN(start))
    const steps = behind < 0 ? starts.length - i + 1 : behind - i + 1
    const end = behind < 0 ? (nextTicks ?? before + steps) : (starts[behind] ?? before)
    starts[i] = Math.round(before + (end - before) / steps)
  }
  return starts
}
