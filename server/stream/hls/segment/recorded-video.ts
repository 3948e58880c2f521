// Reads the video that an encoded segment needs: its samples, and those since the key frame before
// where its first frames refer to them.
import { checkLimit } from '../../../base/errors.ts'
import { MAX_JOB_BYTES } from '../../../decode/video/video-job.ts'
import type { RecordedVideo } from '../../../decode/video/video-job.ts'
import { decoderOf } from '../../../media/codec/sample-entry.ts'
import { SPLIT_DISCONTINUITY } from '../../../media/media-index.ts'
import type { SplitPointRange, VideoTrack } from '../../../media/media-index.ts'
import type { InitTrack, SampleRun } from '../../../media/media-reader.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { sumOf } from '../fmp4/slice-run.ts'
import { lastKeySplitPoint } from './last-key-split-point.ts'
import type { PlannedRecording } from './planned-recording.ts'
import { readSamples, readTrackRun } from './read-samples.ts'

const LIMIT = { limit: 'bytes-between-key-frames', max: MAX_JOB_BYTES } as const

type IndexedRecording = Pick<PlannedRecording, 'index' | 'reader'>

/** The video track of a recording in fMP4 form; undefined without one. */
export function videoTrackOf({ index }: IndexedRecording): VideoTrack | undefined {
  return index.tracks.find((track) => track.kind === 'video')
}

/** The init track of the video at a split point. */
export function videoInitOf(
  { index, reader }: IndexedRecording,
  splitPoint: number,
): InitTrack | undefined {
  const number = index.tracks.findIndex(({ kind }) => kind === 'video')
  return reader.initTracks(index, splitPoint, [number])?.[0]
}

/**
 * The video of a segment, in fMP4 form.
 *
 * @throws AppError `failed` if the file has changed, `unplayable` if the segment is too large
 */
export async function readRecordedVideo(
  recording: IndexedRecording,
  file: OpenFile,
  range: SplitPointRange,
): Promise<RecordedVideo> {
  const { timescale = 1, sampleEntry = new Uint8Array(0) } =
    videoInitOf(recording, range.from) ?? {}
  const own = await readRun(recording, file, range)
  const before =
    own !== undefined && startsAlone(own)
      ? undefined
      : await readRunBefore(recording, file, range.from)
  const leadIn = before !== undefined && fits(before, own) ? before : undefined
  const runs = [leadIn, own].filter((run) => run !== undefined)
  const samples = await Promise.all(runs.map(async (run) => readSamples(file, run, LIMIT)))
  return {
    ...decoderOf(sampleEntry),
    rotationDegrees: videoTrackOf(recording)?.rotationDegrees ?? 0,
    bytes: Buffer.concat(samples),
    sizes: Uint32Array.from(runs.flatMap(({ sizes }) => [...sizes])),
    ticks: Float64Array.from(runs.flatMap((run) => [...shownTicks(run)])),
    timescale: own?.timescale ?? leadIn?.timescale ?? timescale,
    leadInSamples: leadIn?.sizes.length ?? 0,
  }
}

async function readRun(
  recording: IndexedRecording,
  file: OpenFile,
  range: SplitPointRange,
): Promise<SampleRun | undefined> {
  const track = recording.index.tracks.findIndex(({ kind }) => kind === 'video')
  const run = await readTrackRun(recording, file, { track, range })
  if (run !== undefined) checkLimit(LIMIT.limit, LIMIT.max, sumOf(run.sizes))
  return run
}

/** From the key frame before a split point; undefined at the start or after a discontinuity. */
async function readRunBefore(
  recording: IndexedRecording,
  file: OpenFile,
  splitPoint: number,
): Promise<SampleRun | undefined> {
  const { splitPoints } = recording.index
  if (((splitPoints.flags[splitPoint] ?? 0) & SPLIT_DISCONTINUITY) !== 0) return undefined
  const from = lastKeySplitPoint(splitPoints, splitPoint - 1)
  return from === undefined ? undefined : readRun(recording, file, { from, to: splitPoint })
}

/** Whether all frames can be decoded without earlier ones: it begins with a closed GOP. */
function startsAlone(run: SampleRun): boolean {
  if (run.syncs?.[0] !== 1) return false
  const ticks = shownTicks(run)
  const [first = 0] = ticks
  return ticks.every((each) => each >= first)
}

function fits(before: SampleRun, own: SampleRun | undefined): boolean {
  return sumOf(before.sizes) + (own === undefined ? 0 : sumOf(own.sizes)) <= MAX_JOB_BYTES
}

function shownTicks({ firstDecodeTicks, durations, compositionOffsets }: SampleRun): Float64Array {
  let decodeTicks = firstDecodeTicks
  return Float64Array.from(durations, (duration, at) => {
    const ticks = decodeTicks + (compositionOffsets?.[at] ?? 0)
    decodeTicks += duration
    return ticks
  })
}
