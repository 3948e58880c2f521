// Finds the samples of a segment by going through its tags once more; only their headers are looked at.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { CUT_KEY } from '../media-index.ts'
import type { CutRange, CutTable, MediaIndex } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import { makeSampleRun } from '../sample-run.ts'
import type { Sample } from '../sample-run.ts'
import { parseAudioBody } from './audio-tag.ts'
import { ByteWindow, readExactly } from './byte-window.ts'
import { MAX_SEGMENT_SAMPLES, SEGMENT_WINDOW_BYTES } from './flv-limits.ts'
import { NO_PICTURE } from './flv-source.ts'
import type { FlvSection, FlvSource, SoundSetUpRecord, VideoSetUpRecord } from './flv-source.ts'
import { snapSound } from './scan-clock.ts'
import { soundTicks } from './sound-frame.ts'
import { SOUND_TAG, startWalk, VIDEO_TAG, walkTags } from './tag-walk.ts'
import type { Tag } from './tag-walk.ts'
import { parseVideoBody } from './video-tag.ts'

export const VIDEO_TIMESCALE = 1000
/** Behind a segment, what tells that its last tag ends there. */
const TAIL_BYTES = 16

/** What is gathered of a segment. */
interface Gathering {
  source: FlvSource
  video: VideoSetUpRecord | undefined
  sound: SoundSetUpRecord | undefined
  pictures: Sample[]
  sounds: Sample[]
  videoShift: (position: number) => number
  soundShift: (position: number) => number
  soundEndTicks: number
}

/** Runs of the cuts, the pictures first. Throws AppError `failed` where the file no longer matches the index. */
export async function readSampleRuns(
  file: OpenFile,
  { source, cuts }: { source: FlvSource; cuts: CutTable },
  range: CutRange,
): Promise<SampleRun[]> {
  const section = sectionAt(source, range.from)
  const isInside = range.from < range.to && range.to <= sectionEnd(source, section)
  if (section === undefined || !isInside) throw new AppError('failed', 'there is no such segment')
  const gathering = startGathering(source, section, range.from)
  await walkRange(file, source, { ...range, section, take: (tag) => gather(gathering, tag) })
  const { pictures, sounds, sound, soundEndTicks } = gathering
  lowerDecodeTimes(pictures)
  const nextDecodeTicks = nextPictureTicks({ source, cuts }, section, range.to)
  const runs = [
    makeSampleRun(pictures, {
      kind: 'video',
      timescale: VIDEO_TIMESCALE,
      ...(nextDecodeTicks !== undefined && { nextDecodeTicks }),
    }),
    makeSampleRun(sounds, {
      kind: 'audio',
      timescale: sound?.sampleRate ?? 0,
      nextDecodeTicks: soundEndTicks,
    }),
  ]
  return runs.filter((run) => run !== undefined)
}

/** The first picture of the cut, where it is a key frame: its bytes in the file. */
export async function findKeyPicture(
  file: OpenFile,
  { source, cuts }: Pick<MediaIndex, 'cuts'> & { source: FlvSource },
  cut: number,
): Promise<Uint8Array | undefined> {
  const section = sectionAt(source, cut)
  if (section === undefined || ((cuts.flags[cut] ?? 0) & CUT_KEY) === 0) return undefined
  const gathering = startGathering(source, section, cut)
  const take = (tag: Tag): 'stop' | undefined => {
    if (tag.type === VIDEO_TAG) gather(gathering, tag)
    return gathering.pictures.length > 0 ? 'stop' : undefined
  }
  await walkRange(file, source, { from: cut, to: cut + 1, section, take })
  const picture = gathering.pictures[0]
  if (picture === undefined || !picture.isKey) return undefined
  const data = new Uint8Array(picture.sizeBytes)
  await readExactly(file, data, picture.offset)
  return data
}

/** The section that holds a cut. */
export function sectionAt({ sections, offsets }: FlvSource, cut: number): FlvSection | undefined {
  if (!(cut >= 0 && cut < offsets.length)) return undefined
  return sections.findLast(({ firstCut }) => firstCut <= cut)
}

function sectionEnd({ sections, offsets }: FlvSource, section: FlvSection | undefined): number {
  const next = section && sections[sections.indexOf(section) + 1]
  return next?.firstCut ?? offsets.length
}

interface WalkRange extends CutRange {
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
  const windowBytes = Math.min(SEGMENT_WINDOW_BYTES, limit - start)
  const nothing = (): void => undefined
  const visitor = { tag: take, fileHeader: nothing, skipped: nothing }
  const window = new ByteWindow(file, { limit, windowBytes })
  await walkTags(window, startWalk(start), { visitor, stopAt, end: 'closed' })
}

function startGathering(source: FlvSource, section: FlvSection, cut: number): Gathering {
  const video = section.video === undefined ? undefined : source.setUps[section.video]
  const sound = section.sound === undefined ? undefined : source.setUps[section.sound]
  return {
    source,
    video: video?.kind === 'video' ? video : undefined,
    sound: sound?.kind === 'sound' ? sound : undefined,
    pictures: [],
    sounds: [],
    videoShift: clockReader(source.videoClock),
    soundShift: clockReader(source.soundClock),
    soundEndTicks: source.soundEnds[cut] ?? NaN,
  }
}

/** Answers the shift that is in force at a position; positions come in order. */
function clockReader(clock: Float64Array): (position: number) => number {
  let at = 0
  return (position) => {
    while (at + 2 < clock.length && (clock[at + 2] ?? 0) <= position) at += 2
    return clock[at + 1] ?? 0
  }
}

function gather(gathering: Gathering, tag: Tag): undefined {
  if (tag.isEncrypted) return
  if (tag.type === VIDEO_TAG) gatherPictures(gathering, tag)
  if (tag.type === SOUND_TAG) gatherSounds(gathering, tag)
}

function gatherPictures({ source, video, pictures, videoShift }: Gathering, tag: Tag): void {
  const trackId = source.trackIds.video
  for (const body of parseVideoBody(tag)) {
    if (body.kind !== 'picture' || body.codec !== video?.codec || body.trackId !== trackId) continue
    const decodeTicks = tag.timeMs + videoShift(tag.position)
    const presentationTicks = decodeTicks + body.compositionMs
    const place = { offset: tag.bodyOffset + body.from, sizeBytes: body.to - body.from }
    push(pictures, { ...place, decodeTicks, presentationTicks, isKey: body.isKey })
  }
}

function gatherSounds(gathering: Gathering, tag: Tag): void {
  const { source, sound, sounds, soundShift } = gathering
  const trackId = source.trackIds.sound
  for (const body of parseAudioBody(tag)) {
    if (body.kind !== 'frame' || sound === undefined || body.trackId !== trackId) continue
    const sizeBytes = body.to - body.from
    const frameTicks = soundTicks(sound, { ...body, head: tag.body.subarray(body.from), sizeBytes })
    if (frameTicks === undefined) continue
    const ms = tag.timeMs + soundShift(tag.position)
    const ticks = snapSound(gathering.soundEndTicks, ms, sound.sampleRate)
    const offset = tag.bodyOffset + body.from
    push(sounds, {
      offset,
      sizeBytes,
      decodeTicks: ticks,
      presentationTicks: ticks,
      isKey: true,
    })
    gathering.soundEndTicks = ticks + frameTicks
  }
}

function push(samples: Sample[], sample: Sample): void {
  if (samples.length >= MAX_SEGMENT_SAMPLES) {
    throw new AppError('failed', 'the segment has too many frames')
  }
  samples.push(sample)
}

/** Some writers show pictures before they are decoded: they are decoded earlier, then. */
function lowerDecodeTimes(pictures: Sample[]): void {
  let latest = Infinity
  for (let at = pictures.length - 1; at >= 0; at -= 1) {
    const picture = pictures[at]
    if (picture === undefined) continue
    latest = Math.min(latest, picture.presentationTicks)
    picture.decodeTicks = Math.min(picture.decodeTicks, latest)
    latest -= 1
  }
}

/** Decode time of the picture behind the range, where it is of the same section. */
function nextPictureTicks(
  { source, cuts }: { source: FlvSource; cuts: CutTable },
  section: FlvSection,
  to: number,
): number | undefined {
  const leadMs = source.leadMs[to] ?? NO_PICTURE
  if (to === sectionEnd(source, section) || leadMs === NO_PICTURE) return undefined
  return (cuts.startTicks[to] ?? 0) - leadMs
}
