// The key frames of a segment as samples of their own, each shown until the next one. Pure.
import type { SampleRun } from '../../../media/media-reader.ts'
import { MAX_TICKS } from './fill-tracks.ts'

/**
 * The runs of a segment with only the key frames of its video.
 *
 * @param endSeconds end of the segment on the session's timeline
 */
export function keyFramesOf(runs: readonly SampleRun[], endSeconds: number): SampleRun[] {
  return runs.flatMap((run) =>
    run.kind === 'audio' ? [run] : (keyFrameRun(run, endSeconds) ?? []),
  )
}

/**
 * The key frames of a run of video, at the times at which the recording shows them. The last one
 * lasts until the end of the segment. Undefined if there is none.
 */
function keyFrameRun(run: SampleRun, endSeconds: number): SampleRun | undefined {
  const { kind, timescale, sizes, offsets, bytes, prefix } = run
  const frames = listKeyFrames(run)
  const [first] = frames
  if (first === undefined) return undefined
  const endTicks = Math.round(endSeconds * timescale)
  return {
    kind,
    timescale,
    firstDecodeTicks: first.shownTicks,
    sizes: Uint32Array.from(frames, ({ at }) => sizes[at] ?? 0),
    durations: Uint32Array.from(frames, ({ shownTicks }, i) =>
      Math.min(Math.max((frames[i + 1]?.shownTicks ?? endTicks) - shownTicks, 1), MAX_TICKS),
    ),
    syncs: new Uint8Array(frames.length).fill(1),
    ...(offsets && { offsets: Float64Array.from(frames, ({ at }) => offsets[at] ?? 0) }),
    ...(bytes && {
      bytes: Buffer.concat(
        frames.map(({ at, position }) => bytes.subarray(position, position + (sizes[at] ?? 0))),
      ),
    }),
    // A later key frame has its own.
    ...(prefix && first.at === 0 && { prefix }),
  }
}

interface KeyFrameSample {
  /** Index in the run. */
  at: number
  /** Bytes of the samples before it. */
  position: number
  shownTicks: number
}

/** Those that are shown after the key frame before them. */
function listKeyFrames(run: SampleRun): KeyFrameSample[] {
  const { sizes, durations, compositionOffsets, syncs } = run
  const frames: KeyFrameSample[] = []
  let position = 0
  let decodeTicks = run.firstDecodeTicks
  sizes.forEach((size, at) => {
    const shownTicks = decodeTicks + (compositionOffsets?.[at] ?? 0)
    const isKey = syncs === undefined || syncs[at] === 1
    if (isKey && shownTicks > (frames.at(-1)?.shownTicks ?? -1)) {
      frames.push({ at, position, shownTicks })
    }
    position += size
    decodeTicks += durations[at] ?? 0
  })
  return frames
}
