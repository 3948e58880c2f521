// The reader of Matroska and WebM (RFC 9559): segments consist of the frames in the file's blocks.
import { AppError } from '../../base/errors.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { checkRange, hasKeyFrame, servedTracks, sourceOf } from '../media-index.ts'
import type { KeyFrame, MediaIndex } from '../media-index.ts'
import type {
  InitTrack,
  MediaReader,
  SampleRun,
  SegmentContent,
  SegmentRange,
} from '../media-reader.ts'
import { readKeyFrameBytes } from './tracks/key-frame.ts'
import { indexMatroska } from './scan/index-recording.ts'
import { readChapters } from './matroska-chapters.ts'
import { MAX_BLOCK_BYTES } from './matroska-limits.ts'
import { CLOCK_RATE, type MatroskaSource } from './matroska-source.ts'
import { audioRun as audioSamples, frameRun, withPrefix } from './segment/segment-runs.ts'
import { readSamples, type SegmentSamples } from './segment/segment-samples.ts'
import { sectionOf } from '../timeline/split-points.ts'

export function createMatroskaReader(): MediaReader {
  return { index: indexMatroska, readSegment, initTracks, readKeyFrame, readChapters }
}

async function readSegment(
  file: OpenFile,
  index: MediaIndex,
  { from, to, tracks }: SegmentRange,
): Promise<SegmentContent> {
  const source = openSource(file, index)
  checkRange(index, { from, to })
  const wanted = wantedTracks(index, tracks)
  const audioTracks = wanted.flatMap((track) => (track.kind === 'audio' ? [track.audio] : []))
  const hasVideo = wanted.some(({ kind }) => kind === 'video')
  const samples = await readSamples(file, source, { from, to, hasVideo, audioTracks })
  const runs: SampleRun[] = []
  for (const track of wanted) {
    const made =
      track.kind === 'video'
        ? videoRun(source, samples, to)
        : audioRun(source, samples, { audio: track.audio, to })
    if (made === undefined) continue
    const { run, prefix } = made
    runs.push(prefix === undefined ? run : await withPrefix(file, run, prefix))
  }
  return { kind: 'samples', runs }
}

interface MadeRun {
  run: SampleRun
  /** Inserted before each frame. */
  prefix?: Uint8Array
}

function videoRun(
  source: MatroskaSource,
  { frames }: SegmentSamples,
  to: number,
): MadeRun | undefined {
  const section = frames.at(-1)?.section
  if (section === undefined) return undefined
  const earliest = source.splitPoints.earliestTicks[to] ?? NaN
  const continues = !Number.isNaN(earliest) && sectionOf(source, to) === section
  const next = earliest - section.shiftTicks - section.delayTicks
  const run = frameRun(frames, continues ? next : undefined)
  return run && made(run, source.sets[section.set]?.video?.prefix)
}

function audioRun(
  source: MatroskaSource,
  { audioTracks }: SegmentSamples,
  { audio, to }: { audio: number; to: number },
): MadeRun | undefined {
  const found = audioTracks.get(audio)
  if (found === undefined) return undefined
  const { stream, samples } = found
  const start = source.splitPoints.audioStarts[audio]?.[to] ?? NaN
  const section = sectionOf(source, to)
  const continues = !Number.isNaN(start) && section.firstSplitPoint !== to
  const shift = Math.round((section.shiftTicks / CLOCK_RATE) * stream.timescale)
  const run = audioSamples(stream, samples, continues ? start - shift : undefined)
  return run && made(run, stream.prefix)
}

function made(run: SampleRun, prefix: Uint8Array | undefined): MadeRun {
  return prefix === undefined ? { run } : { run, prefix }
}

function initTracks(
  index: MediaIndex,
  splitPoint: number,
  tracks?: readonly number[],
): InitTrack[] {
  const source = sourceOf(index, 'matroska')
  const set = source.sets[sectionOf(source, splitPoint).set]
  return wantedTracks(index, tracks).flatMap((track): InitTrack[] => {
    if (track.kind === 'video') {
      const { video } = set ?? {}
      if (video?.config === undefined) return []
      const { displayWidth: width, displayHeight: height } = video
      const { sampleEntry } = video.config
      return [{ kind: 'video', timescale: CLOCK_RATE, sampleEntry, width, height }]
    }
    const stream = set?.audioTracks[track.audio]
    if (stream?.sampleEntry === undefined) return []
    const { timescale, sampleEntry } = stream
    return [{ kind: 'audio', timescale, sampleEntry, width: 0, height: 0 }]
  })
}

async function readKeyFrame(
  file: OpenFile,
  index: MediaIndex,
  splitPoint: number,
): Promise<KeyFrame | undefined> {
  const source = openSource(file, index)
  if (!hasKeyFrame(index, splitPoint)) return undefined
  const { set, firstFrameAt } = sectionOf(source, splitPoint)
  const video = source.sets[set]?.video
  if (video?.config === undefined) return undefined
  const data = await readKeyFrameBytes(file, source, {
    splitPoint,
    notBefore: firstFrameAt,
    video,
    limitBytes: MAX_BLOCK_BYTES,
  })
  if (data === undefined) return undefined
  const { extradata } = video.config
  return { codec: video.codec, ...(extradata && { extradata }), data, rotationDegrees: 0 }
}

type WantedTrack = { kind: 'video' } | { kind: 'audio'; audio: number }

/** The requested tracks of the index; by default the video and the first audio track. */
function wantedTracks(index: MediaIndex, tracks?: readonly number[]): WantedTrack[] {
  const firstAudio = index.tracks.findIndex(({ kind }) => kind === 'audio')
  return servedTracks(index, tracks).map((number) => {
    const track = index.tracks[number]
    if (track === undefined) throw new AppError('failed', 'there is no such track')
    return track.kind === 'video'
      ? { kind: 'video' }
      : { kind: 'audio', audio: number - firstAudio }
  })
}

/** The offsets of an index are valid for one version of the file, which may have grown. */
function openSource(file: OpenFile, index: MediaIndex): MatroskaSource {
  const source = sourceOf(index, 'matroska')
  if (source.endOffset <= file.stat.sizeBytes) return source
  throw new AppError('failed', 'the recording no longer matches its index')
}
