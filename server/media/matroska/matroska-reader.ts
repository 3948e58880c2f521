// The reader of Matroska and WebM (RFC 9559): segments are the frames of the file's blocks, as they lie there.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { CUT_KEY, type KeyFrame, type MediaIndex } from '../media-index.ts'
import type {
  InitTrack,
  MediaReader,
  SampleRun,
  SegmentContent,
  SegmentRange,
} from '../media-reader.ts'
import { readKeyFrameBytes } from './first-key-frame.ts'
import { indexMatroska } from './index-recording.ts'
import { MAX_BLOCK_BYTES } from './matroska-limits.ts'
import { CLOCK_RATE, type MatroskaSource } from './matroska-source.ts'
import { pictureRun, soundRun } from './segment-runs.ts'
import { type SegmentSamples, readSamples, sectionOfCut } from './segment-samples.ts'
import { withPrefix } from './stripped-frames.ts'

/** A reader without state: what it knows of a recording is in the index. */
export function createMatroskaReader(): MediaReader {
  return { index: indexMatroska, readSegment, initTracks, readKeyFrame }
}

async function readSegment(
  file: OpenFile,
  index: MediaIndex,
  { from, to, tracks }: SegmentRange,
): Promise<SegmentContent> {
  const source = openSource(file, index)
  const cutCount = index.cuts.startTicks.length
  if (!(from >= 0 && from < to && to <= cutCount)) {
    throw new AppError('failed', 'there is no such segment')
  }
  const wanted = wantedTracks(index, tracks)
  const sounds = wanted.flatMap((track) => (track.kind === 'audio' ? [track.sound] : []))
  const hasVideo = wanted.some(({ kind }) => kind === 'video')
  const samples = await readSamples(file, source, { from, to, hasVideo, sounds })
  const runs: SampleRun[] = []
  for (const track of wanted) {
    const made =
      track.kind === 'video'
        ? videoRun(source, samples, to)
        : audioRun(source, samples, { sound: track.sound, to })
    if (made === undefined) continue
    const { run, prefix } = made
    runs.push(prefix === undefined ? run : await withPrefix(file, run, prefix))
  }
  return { kind: 'samples', runs }
}

interface MadeRun {
  run: SampleRun
  /** Goes in front of each frame. */
  prefix?: Uint8Array
}

function videoRun(
  source: MatroskaSource,
  { pictures }: SegmentSamples,
  to: number,
): MadeRun | undefined {
  const section = pictures.at(-1)?.section
  if (section === undefined) return undefined
  const earliest = source.cuts.earliestTicks[to] ?? NaN
  const goesOn = !Number.isNaN(earliest) && sectionOfCut(source, to) === section
  const next = earliest - section.shiftTicks - section.delayTicks
  const run = pictureRun(pictures, goesOn ? next : undefined)
  return run && made(run, source.sets[section.set]?.video?.prefix)
}

function audioRun(
  source: MatroskaSource,
  { sounds }: SegmentSamples,
  { sound, to }: { sound: number; to: number },
): MadeRun | undefined {
  const found = sounds.get(sound)
  if (found === undefined) return undefined
  const { stream, samples } = found
  const start = source.cuts.soundStarts[sound]?.[to] ?? NaN
  const section = sectionOfCut(source, to)
  const goesOn = !Number.isNaN(start) && section.firstCut !== to
  const shift = Math.round((section.shiftTicks / CLOCK_RATE) * stream.timescale)
  const run = soundRun(stream, samples, goesOn ? start - shift : undefined)
  return run && made(run, stream.prefix)
}

function made(run: SampleRun, prefix: Uint8Array | undefined): MadeRun {
  return prefix === undefined ? { run } : { run, prefix }
}

function initTracks(index: MediaIndex, cut: number, tracks?: readonly number[]): InitTrack[] {
  const source = matroskaSource(index)
  const set = source.sets[sectionOfCut(source, cut).set]
  return wantedTracks(index, tracks).flatMap((track): InitTrack[] => {
    if (track.kind === 'video') {
      const { video } = set ?? {}
      if (video?.setUp === undefined) return []
      const { displayWidth: width, displayHeight: height } = video
      const { sampleEntry } = video.setUp
      return [{ kind: 'video', timescale: CLOCK_RATE, sampleEntry, width, height }]
    }
    const stream = set?.sounds[track.sound]
    if (stream?.sampleEntry === undefined) return []
    const { timescale, sampleEntry } = stream
    return [{ kind: 'audio', timescale, sampleEntry, width: 0, height: 0 }]
  })
}

async function readKeyFrame(
  file: OpenFile,
  index: MediaIndex,
  cut: number,
): Promise<KeyFrame | undefined> {
  const source = openSource(file, index)
  if (((index.cuts.flags[cut] ?? 0) & CUT_KEY) === 0) return undefined
  const { set, firstPictureAt } = sectionOfCut(source, cut)
  const video = source.sets[set]?.video
  if (video?.setUp === undefined) return undefined
  const data = await readKeyFrameBytes(file, source, {
    cut,
    notBefore: firstPictureAt,
    video,
    limitBytes: MAX_BLOCK_BYTES,
  })
  if (data === undefined) return undefined
  const { extradata } = video.setUp
  return { codec: video.codec, ...(extradata && { extradata }), data, rotationDegrees: 0 }
}

type WantedTrack = { kind: 'video' } | { kind: 'audio'; sound: number }

/** The index's tracks that are asked for: the video and the first sound unless said otherwise. */
function wantedTracks(index: MediaIndex, tracks?: readonly number[]): WantedTrack[] {
  const firstSound = index.tracks.findIndex(({ kind }) => kind === 'audio')
  const wanted =
    tracks ?? [0, firstSound].filter((number, i) => number >= 0 && (i === 0 || number > 0))
  return wanted.map((number) => {
    const track = index.tracks[number]
    if (track === undefined) throw new AppError('failed', 'there is no such track')
    return track.kind === 'video'
      ? { kind: 'video' }
      : { kind: 'audio', sound: number - firstSound }
  })
}

/** Offsets of an index hold for the file it was made from; a file that has grown has them too. */
function openSource(file: OpenFile, index: MediaIndex): MatroskaSource {
  const source = matroskaSource(index)
  if (source.endOffset <= file.stat.sizeBytes) return source
  throw new AppError('failed', 'the recording no longer matches its index')
}

function matroskaSource({ source }: MediaIndex): MatroskaSource {
  if (source.container === 'matroska') return source
  throw new AppError('failed', 'the index is not of a Matroska file')
}
