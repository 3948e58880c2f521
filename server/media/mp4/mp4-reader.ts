// The reader of MP4 and MOV files (ISO/IEC 14496-12, QuickTime File Format) with sample tables in a
// moov box.
import { AppError } from '../../base/errors.ts'
import { readExactly } from '../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { setsAt } from '../codec/parameter-sets.ts'
import { checkRange, hasKeyFrame, servedTracks, sourceOf } from '../media-index.ts'
import type { KeyFrame, MediaIndex } from '../media-index.ts'
import type {
  InitTrack,
  MediaReader,
  SampleRun,
  SegmentContent,
  SegmentRange,
} from '../media-reader.ts'
import { checkSegmentSamples } from '../timeline/segment-limits.ts'
import { FileWindow } from './boxes/file-window.ts'
import { indexMovie } from './index/index-movie.ts'
import { readPcmRun } from './read-pcm-run.ts'
import { readMovie } from './index/movie.ts'
import { readChapters } from './mp4-chapters.ts'
import { MAX_KEY_FRAME_BYTES } from './mp4-limits.ts'
import { segmentCost } from './sample-tables/segment-cost.ts'
import type { Mp4Description, Mp4Source, Mp4Track } from './mp4-source.ts'
import { samplePrefix } from './sample-entries/sample-sets.ts'
import { readSampleLocations } from './sample-tables/sample-locations.ts'
import { withPrefix } from '../sample-run.ts'
import { readSampleRun } from './sample-tables/read-sample-run.ts'

export function createMp4Reader(): MediaReader {
  return { index: indexFile, readSegment, initTracks, readKeyFrame, readChapters }
}

async function indexFile(file: OpenFile, signal: AbortSignal): Promise<MediaIndex> {
  const window = new FileWindow(file, signal)
  return indexMovie(window, await readMovie(window))
}

async function readSegment(
  file: OpenFile,
  index: MediaIndex,
  range: SegmentRange,
): Promise<SegmentContent> {
  checkRange(index, range)
  const { tracks } = openSource(file, index)
  const wanted = servedTracks(index, range.tracks).flatMap((at) => tracks[at] ?? [])
  checkSegmentSamples(wanted.reduce((sum, track) => sum + segmentCost(track, range), 0))
  const runs = await Promise.all(wanted.map((track) => readRun(file, track, range)))
  return { kind: 'samples', runs: runs.filter((run) => run !== undefined) }
}

async function readRun(
  file: OpenFile,
  track: Mp4Track,
  range: SegmentRange,
): Promise<SampleRun | undefined> {
  if (track.packetSamples) return readPcmRun(file, track, range)
  const run = await readSampleRun(file, track, range)
  return run && withPrefix(run, prefixAt(track, range.from))
}

function initTracks(
  index: MediaIndex,
  splitPoint: number,
  tracks?: readonly number[],
): InitTrack[] {
  const source = sourceOf(index, 'mp4')
  return servedTracks(index, tracks).flatMap((at) => {
    const track = source.tracks[at]
    if (track === undefined) return []
    const { kind, timescale, matrix, width, height } = track
    const { sampleEntry } = descriptionAt(track, splitPoint)
    if (sampleEntry === undefined) return []
    return [{ kind, timescale, sampleEntry, ...(matrix && { matrix }), width, height }]
  })
}

async function readKeyFrame(
  file: OpenFile,
  index: MediaIndex,
  splitPoint: number,
): Promise<KeyFrame | undefined> {
  const { tracks } = openSource(file, index)
  const position = tracks.findIndex((track) => track.kind === 'video')
  const track = tracks[position]
  const described = index.tracks[position]
  const isKey = hasKeyFrame(index, splitPoint)
  if (track === undefined || described?.kind !== 'video' || !isKey) return undefined
  const { decoder } = descriptionAt(track, splitPoint)
  if (decoder === undefined) return undefined
  const frame = await readSample(file, track, track.cursors.samples[splitPoint] ?? 0)
  if (frame === undefined) return undefined
  const prefix = prefixAt(track, splitPoint)
  const { codec, extradata } = decoder
  const data = prefix.length === 0 ? frame : Buffer.concat([prefix, frame])
  const { rotationDegrees } = described
  return { codec, ...(extradata && { extradata }), data, rotationDegrees }
}

function prefixAt(track: Mp4Track, splitPoint: number): Uint8Array {
  const sets = setsAt(track.sets, splitPoint)
  return sets.length === 0
    ? new Uint8Array(0)
    : samplePrefix(descriptionAt(track, splitPoint).decoder, sets)
}

/** Undefined for an unreadable sample. */
async function readSample(
  file: OpenFile,
  track: Mp4Track,
  sample: number,
): Promise<Uint8Array | undefined> {
  const { unreadable = [] } = track.samples
  if (unreadable.some(({ from, to }) => sample >= from && sample < to)) return undefined
  const range = { from: sample, to: sample + 1 }
  const { sizes, offsets } = await readSampleLocations(file, track.samples, range)
  const [size = 0] = sizes
  const [offset = 0] = offsets
  if (size > MAX_KEY_FRAME_BYTES || !(offset + size <= file.stat.sizeBytes)) return undefined
  return readExactly(file, offset, size)
}

function descriptionAt(track: Mp4Track, splitPoint: number): Mp4Description {
  const description = track.descriptions[track.descriptionOfSplitPoint?.[splitPoint] ?? 0]
  if (description === undefined) throw new AppError('failed', 'the index is corrupt')
  return description
}

/**
 * The offsets of an index are valid for one version of the file; a changed size is the cheap test.
 */
function openSource(file: OpenFile, index: MediaIndex): Mp4Source {
  const source = sourceOf(index, 'mp4')
  if (source.sizeBytes === file.stat.sizeBytes) return source
  throw new AppError('failed', 'the recording no longer matches its index')
}
