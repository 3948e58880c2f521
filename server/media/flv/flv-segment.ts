// Finds the samples of a segment by a second walk over its tags, of which it reads the headers.
import { AppError } from '../../base/errors.ts'
import { readExactly } from '../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { prefixOf, recordedSets, setsAt } from '../codec/parameter-sets.ts'
import { SPLIT_KEY_FRAME } from '../media-index.ts'
import type { MediaIndex, SplitPointRange, SplitPointTable } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import { makeSampleRun, withPrefix } from '../sample-run.ts'
import type { Sample } from '../sample-run.ts'
import { parseAudioBody } from './audio-tag.ts'
import { ReadWindow } from '../../storage/recordings/read-window.ts'
import { checkSegmentSamples } from '../timeline/segment-limits.ts'
import { SEGMENT_WINDOW_BYTES } from './flv-limits.ts'
import { NO_FRAME } from './flv-source.ts'
import type { AudioConfigRecord, FlvSection, FlvSource, VideoConfigRecord } from './flv-source.ts'
import { snapAudio } from './scan-clock.ts'
import { audioTicks } from './audio-config.ts'
import { AUDIO_TAG, startWalk, VIDEO_TAG, walkTags } from './tag-walk.ts'
import type { Tag } from './tag-walk.ts'
import { parseVideoBody } from './video-tag.ts'
import { findSection } from '../timeline/split-points.ts'

export const VIDEO_TIMESCALE = 1000
/** Bytes after a segment, which confirm where its last tag ends. */
const TAIL_BYTES = 16

/** The samples of a segment so far. */
interface Gathering {
  source: FlvSource
  video: VideoConfigRecord | undefined
  audio: AudioConfigRecord | undefined
  frames: Sample[]
  audioTracks: Sample[]
  videoShift: (position: number) => number
  audioShift: (position: number) => number
  audioEndTicks: number
}

/**
 * Runs of the split points, video first. Throws AppError `failed` if the file no longer matches the
 * index.
 */
export async function readSampleRuns(
  file: OpenFile,
  { source, splitPoints }: { source: FlvSource; splitPoints: SplitPointTable },
  range: SplitPointRange,
): Promise<SampleRun[]> {
  const section = sectionAt(source, range.from)
  const isInside = range.from < range.to && range.to <= sectionEnd(source, section)
  if (section === undefined || !isInside) throw new AppError('failed', 'there is no such segment')
  const gathering = startGathering(source, section, range.from)
  await walkRange(file, source, { ...range, section, take: (tag) => gather(gathering, tag) })
  const { frames, audioTracks, audio, audioEndTicks } = gathering
  lowerDecodeTimes(frames)
  const nextDecodeTicks = nextFrameTicks({ source, splitPoints }, section, range.to)
  const runs = [
    makeSampleRun(frames, {
      kind: 'video',
      timescale: VIDEO_TIMESCALE,
      ...(nextDecodeTicks !== undefined && { nextDecodeTicks }),
    }),
    makeSampleRun(audioTracks, {
      kind: 'audio',
      timescale: audio?.sampleRate ?? 0,
      nextDecodeTicks: audioEndTicks,
    }),
  ]
  const prefix = prefixAt(source, range.from)
  return runs.flatMap((run) => {
    if (run === undefined) return []
    return [run.kind === 'video' ? withPrefix(run, prefix) : run]
  })
}

/** Parameter sets in force that must precede the first frame at a split point. */
function prefixAt(source: FlvSource, splitPoint: number): Uint8Array {
  const sets = setsAt(source.sets, splitPoint)
  const config = source.configs[sectionAt(source, splitPoint)?.video ?? -1]
  if (sets.length === 0 || config?.kind !== 'video' || config.codec === 'vp9') {
    return new Uint8Array(0)
  }
  return prefixOf(sets, recordedSets(config.codec, config.config).lengthBytes)
}

/** The bytes of the first frame at a split point, if it is a key frame. */
export async function findKeyFrame(
  file: OpenFile,
  { source, splitPoints }: Pick<MediaIndex, 'splitPoints'> & { source: FlvSource },
  splitPoint: number,
): Promise<Uint8Array | undefined> {
  const section = sectionAt(source, splitPoint)
  if (section === undefined || ((splitPoints.flags[splitPoint] ?? 0) & SPLIT_KEY_FRAME) === 0)
    return undefined
  const gathering = startGathering(source, section, splitPoint)
  const take = (tag: Tag): 'stop' | undefined => {
    if (tag.type === VIDEO_TAG) gather(gathering, tag)
    return gathering.frames.length > 0 ? 'stop' : undefined
  }
  await walkRange(file, source, { from: splitPoint, to: splitPoint + 1, section, take })
  const frame = gathering.frames[0]
  if (frame === undefined || !frame.isKey) return undefined
  const data = await readExactly(file, frame.offset, frame.sizeBytes)
  const prefix = prefixAt(source, splitPoint)
  return prefix.length === 0 ? data : Buffer.concat([prefix, data])
}

/** The section of a split point. */
export function sectionAt(
  { sections, offsets }: FlvSource,
  splitPoint: number,
): FlvSection | undefined {
  if (!(splitPoint >= 0 && splitPoint < offsets.length)) return undefined
  return findSection(sections, splitPoint)
}

function sectionEnd({ sections, offsets }: FlvSource, section: FlvSection | undefined): number {
  const next = section && sections[sections.indexOf(section) + 1]
  return next?.firstSplitPoint ?? offsets.length
}

interface WalkRange extends SplitPointRange {
  section: FlvSection
  take: (tag: Tag) => 'stop' | undefined
}

async function walkRange(
  file: OpenFile,
  source: FlvSource,
  { from, to, section, take }: WalkRange,
): Promise<void> {
  if (file.stat.sizeBytes < source.sizeBytes) {
    throw new AppError('failed', 'the recording no longer matches its index')
  }
  const start = source.offsets[from] ?? 0
  const isLast = to === sectionEnd(source, section)
  const stopAt = isLast ? section.endOffset : (source.offsets[to] ?? section.endOffset)
  const limit = Math.min(source.sizeBytes, stopAt + TAIL_BYTES)
  const readBytes = Math.min(SEGMENT_WINDOW_BYTES, limit - start)
  const nothing = (): void => undefined
  const visitor = { tag: take, fileHeader: nothing, skipped: nothing }
  const window = new ReadWindow(file, { limit, readBytes })
  await walkTags(window, startWalk(start), { visitor, stopAt, end: 'closed' })
}

function startGathering(source: FlvSource, section: FlvSection, splitPoint: number): Gathering {
  const video = section.video === undefined ? undefined : source.configs[section.video]
  const audio = section.audio === undefined ? undefined : source.configs[section.audio]
  return {
    source,
    video: video?.kind === 'video' ? video : undefined,
    audio: audio?.kind === 'audio' ? audio : undefined,
    frames: [],
    audioTracks: [],
    videoShift: clockReader(source.videoClock),
    audioShift: clockReader(source.audioClock),
    audioEndTicks: source.audioEnds[splitPoint] ?? NaN,
  }
}

/** Returns the shift in force at a position; positions come in order. */
function clockReader(clock: Float64Array): (position: number) => number {
  let at = 0
  return (position) => {
    while (at + 2 < clock.length && (clock[at + 2] ?? 0) <= position) at += 2
    return clock[at + 1] ?? 0
  }
}

function gather(gathering: Gathering, tag: Tag): undefined {
  if (tag.isEncrypted) return
  if (tag.type === VIDEO_TAG) gatherFrames(gathering, tag)
  if (tag.type === AUDIO_TAG) gatherAudioTracks(gathering, tag)
}

function gatherFrames({ source, video, frames, videoShift }: Gathering, tag: Tag): void {
  const trackId = source.trackIds.video
  for (const body of parseVideoBody(tag)) {
    if (body.kind !== 'frame' || body.codec !== video?.codec || body.trackId !== trackId) continue
    const decodeTicks = tag.timeMs + videoShift(tag.position)
    const presentationTicks = decodeTicks + body.compositionMs
    const place = { offset: tag.bodyOffset + body.from, sizeBytes: body.to - body.from }
    push(frames, { ...place, decodeTicks, presentationTicks, isKey: body.isKey })
  }
}

function gatherAudioTracks(gathering: Gathering, tag: Tag): void {
  const { source, audio, audioTracks, audioShift } = gathering
  const trackId = source.trackIds.audio
  for (const body of parseAudioBody(tag)) {
    if (body.kind !== 'frame' || audio === undefined || body.trackId !== trackId) continue
    const sizeBytes = body.to - body.from
    const frameTicks = audioTicks(audio, { ...body, head: tag.body.subarray(body.from), sizeBytes })
    if (frameTicks === undefined) continue
    const ms = tag.timeMs + audioShift(tag.position)
    const ticks = snapAudio(gathering.audioEndTicks, ms, audio.sampleRate)
    const offset = tag.bodyOffset + body.from
    push(audioTracks, {
      offset,
      sizeBytes,
      decodeTicks: ticks,
      presentationTicks: ticks,
      isKey: true,
    })
    gathering.audioEndTicks = ticks + frameTicks
  }
}

function push(samples: Sample[], sample: Sample): void {
  samples.push(sample)
  checkSegmentSamples(samples.length)
}

/**
 * Some writers give frames a presentation time before their decode time: these are decoded earlier.
 */
function lowerDecodeTimes(frames: Sample[]): void {
  let latest = Infinity
  for (let at = frames.length - 1; at >= 0; at -= 1) {
    const frame = frames[at]
    if (frame === undefined) continue
    latest = Math.min(latest, frame.presentationTicks)
    frame.decodeTicks = Math.min(frame.decodeTicks, latest)
    latest -= 1
  }
}

/** Decode time of the frame after the range, if it belongs to the same section. */
function nextFrameTicks(
  { source, splitPoints }: { source: FlvSource; splitPoints: SplitPointTable },
  section: FlvSection,
  to: number,
): number | undefined {
  const leadMs = source.leadMs[to] ?? NO_FRAME
  if (to === sectionEnd(source, section) || leadMs === NO_FRAME) return undefined
  return (splitPoints.startTicks[to] ?? 0) - leadMs
}
