// The reader of MP4 and MOV files (ISO/IEC 14496-12). Reads fragments (8.8) itself, and passes
// files without fragments to the plain MP4 reader.
import { AppError } from '../../base/errors.ts'
import { readExactly } from '../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { checkRange, hasKeyFrame, servedTracks, sourceOf } from '../media-index.ts'
import type { KeyFrame, MediaIndex } from '../media-index.ts'
import type { InitTrack, MediaReader, SegmentContent, SegmentRange } from '../media-reader.ts'
import { FileWindow } from '../mp4/boxes/file-window.ts'
import { createMp4Reader } from '../mp4/mp4-reader.ts'
import { indexMovie } from '../mp4/index/index-movie.ts'
import { readMovie } from '../mp4/index/movie.ts'
import { readChapters } from '../mp4/mp4-chapters.ts'
import { MAX_KEY_FRAME_BYTES } from '../mp4/mp4-limits.ts'
import type { Mp4Description } from '../mp4/mp4-source.ts'
import { growIndex, indexFragments } from './scan/fmp4-index.ts'
import { sectionOf } from '../timeline/split-points.ts'
import { prefixAt, readFragmentRuns } from './fmp4-segment.ts'
import type { Fmp4Source } from './fmp4-source.ts'
import { hasFragments } from './fragments/fragment-walk.ts'

/** A reader for any MP4, which detects whether the samples are in fragments. */
export function createFragmentedMp4Reader(): MediaReader {
  const plain = createMp4Reader()
  const fragmented = { readSegment, initTracks, readKeyFrame }
  const readerOf = ({ source }: MediaIndex) => (source.container === 'mp4' ? plain : fragmented)
  return {
    index: indexMp4,
    readSegment: (file, index, range) => readerOf(index).readSegment(file, index, range),
    initTracks: (index, splitPoint, tracks) =>
      readerOf(index).initTracks(index, splitPoint, tracks),
    readKeyFrame: (file, index, splitPoint) =>
      readerOf(index).readKeyFrame(file, index, splitPoint),
    readChapters,
  }
}

async function indexMp4(
  file: OpenFile,
  signal: AbortSignal,
  previous?: MediaIndex,
): Promise<MediaIndex> {
  signal.throwIfAborted()
  // A recorder may finally replace the fragments by a plain sample table: what was listed from
  // them stays.
  if (previous?.source.container === 'fmp4' && canContinue(file, previous, previous.source)) {
    return growIndex(file, { previous, source: previous.source }, signal)
  }
  const window = new FileWindow(file, signal)
  const movie = await readMovie(window)
  const isFragmented = await hasFragments(window, movie)
  return isFragmented ? indexFragments(window, movie) : indexMovie(window, movie)
}

/**
 * Without stable split points the whole file is read again: it is short, or its tracks may still
 * change.
 */
function canContinue(file: OpenFile, { growth }: MediaIndex, { sizeBytes }: Fmp4Source): boolean {
  return (growth?.stableSplitPoints ?? 0) > 0 && sizeBytes <= file.stat.sizeBytes
}

async function readSegment(
  file: OpenFile,
  index: MediaIndex,
  { tracks, ...range }: SegmentRange,
): Promise<SegmentContent> {
  checkRange(index, range)
  const source = openSource(file, index)
  const numbers = servedTracks(index, tracks).flatMap((at) => source.served[at] ?? [])
  const runs = await readFragmentRuns(
    file,
    { splitPoints: index.splitPoints, source },
    { ...range, tracks: numbers },
  )
  return { kind: 'samples', runs }
}

function initTracks(
  index: MediaIndex,
  splitPoint: number,
  tracks?: readonly number[],
): InitTrack[] {
  const source = sourceOf(index, 'fmp4')
  const section = sectionOf(source, splitPoint)
  return servedTracks(index, tracks).flatMap((at) => {
    const number = source.served[at] ?? -1
    const track = source.inits[section.init]?.tracks[number]
    const sampleEntry = descriptionOf(source, splitPoint, number)?.sampleEntry
    if (track === undefined || sampleEntry === undefined) return []
    const { kind, timescale, matrix, width, height } = track
    return [{ kind, timescale, sampleEntry, ...(matrix && { matrix }), width, height }]
  })
}

/** The sample description in force, or the track's first if it has no samples in the section. */
function descriptionOf(
  source: Fmp4Source,
  splitPoint: number,
  track: number,
): Mp4Description | undefined {
  const section = sectionOf(source, splitPoint)
  const descriptions = source.inits[section.init]?.tracks[track]?.descriptions ?? []
  const inForce = descriptions[(section.descriptions[track] ?? 0) - 1]
  return inForce ?? descriptions.find((each) => each !== undefined)
}

async function readKeyFrame(
  file: OpenFile,
  index: MediaIndex,
  splitPoint: number,
): Promise<KeyFrame | undefined> {
  const source = openSource(file, index)
  const position = index.tracks.findIndex(({ kind }) => kind === 'video')
  const described = index.tracks[position]
  const number = source.served[position]
  const isKey = hasKeyFrame(index, splitPoint)
  if (described?.kind !== 'video' || number === undefined || !isKey) return undefined
  const decoder = descriptionOf(source, splitPoint, number)?.decoder
  const range = { from: splitPoint, to: splitPoint + 1, tracks: [number] }
  const [run] = await readFragmentRuns(file, { splitPoints: index.splitPoints, source }, range)
  const offset = run?.offsets?.[0]
  const size = run?.sizes[0]
  if (decoder === undefined || offset === undefined || size === undefined) return undefined
  if (size > MAX_KEY_FRAME_BYTES) throw new AppError('failed', 'the key frame cannot be read')
  const prefix = prefixAt(source, splitPoint)
  const frame = await readExactly(file, offset, size - prefix.length)
  const data = prefix.length === 0 ? frame : Buffer.concat([prefix, frame])
  const { codec, extradata } = decoder
  const { rotationDegrees } = described
  return { codec, ...(extradata && { extradata }), data, rotationDegrees }
}

/** A recording may have grown since it was indexed, but must not have become shorter. */
function openSource(file: OpenFile, index: MediaIndex): Fmp4Source {
  const source = sourceOf(index, 'fmp4')
  if (source.sizeBytes <= file.stat.sizeBytes) return source
  throw new AppError('failed', 'the recording no longer matches its index')
}
