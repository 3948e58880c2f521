// Builds the runs of a segment: decode times, which Matroska does not store, and durations; and
// restores the bytes that header stripping removed from each frame (RFC 9559 5.1.4.1.31.6).
import type { SampleRun } from '../../media-reader.ts'
import { makeSampleRun, type Sample } from '../../sample-run.ts'
import { CLOCK_RATE, type AudioStreamInfo } from '../matroska-source.ts'
import { LONE_FRAME_TICKS } from '../scan/scan-memory.ts'
import type { AudioSample, FrameSample } from './segment-samples.ts'
import { AppError } from '../../../base/errors.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { ReadWindow } from '../../../storage/recordings/read-window.ts'
import { MAX_GATHERED_BYTES } from '../matroska-limits.ts'

/**
 * The video run. Decode times are the sorted presentation times minus the section's reorder delay,
 * or earlier, so that none exceeds its presentation time, or reaches `nextDecodeTicks`: the first
 * decode time of the next segment.
 */
export function frameRun(
  frames: readonly FrameSample[],
  nextDecodeTicks: number | undefined,
): SampleRun | undefined {
  const sorted = Float64Array.from(frames, ({ presentationTicks }) => presentationTicks).sort()
  const samples: Sample[] = []
  let limit = nextDecodeTicks ?? Infinity
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

const WINDOW_BYTES = 1024 * 1024

/** The run with the bytes of its samples, each starting with the prefix. */
export async function withPrefix(
  file: OpenFile,
  run: SampleRun,
  prefix: Uint8Array,
): Promise<SampleRun> {
  const { sizes, offsets = new Float64Array(), ...rest } = run
  const whole = sizes.map((size) => size + prefix.length)
  const totalBytes = whole.reduce((sum, size) => sum + size, 0)
  if (totalBytes > MAX_GATHERED_BYTES) {
    throw new AppError('failed', 'the segment has more bytes than can be served')
  }
  const bytes = new Uint8Array(totalBytes)
  const window = new ReadWindow(file, { readBytes: WINDOW_BYTES })
  let at = 0
  for (const [i, size] of sizes.entries()) {
    const offset = offsets[i] ?? 0
    await window.need(offset, size)
    bytes.set(prefix, at)
    bytes.set(window.view(offset, size), at + prefix.length)
    at += prefix.length + size
  }
  return { ...rest, sizes: whole, bytes }
}
