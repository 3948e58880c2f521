// Goes through the tags of an FLV file and notes where its cuts, breaks and set-ups are.
import { parseAudioBody } from './audio-tag.ts'
import type { AudioBody } from './audio-tag.ts'
import type { ByteWindow } from './byte-window.ts'
import { MAX_SET_UPS, MAX_SET_UPS_BYTES } from './flv-limits.ts'
import type { FlvSetUp, SoundSetUpRecord } from './flv-source.ts'
import { dropPicture, settleMarks, takeMark } from './scan-marks.ts'
import { closeSection } from './scan-section.ts'
import { keepState } from './scan-state.ts'
import type { ScanState } from './scan-progress.ts'
import type { Scan } from './scan-state.ts'
import { describeFrame, isPlainSound, soundTicks } from './sound-frame.ts'
import { plainSoundSetUp, readSoundSetUp } from './sound-set-up.ts'
import { SOUND_TAG, VIDEO_TAG, walkTags } from './tag-walk.ts'
import type { Tag } from './tag-walk.ts'
import { readVideoSetUp } from './video-set-up.ts'
import { parseVideoBody } from './video-tag.ts'
import type { VideoBody } from './video-tag.ts'

/**
 * Scans on from where the scan stands, to the end of the file. Answers the state from which it goes on when more has
 * been written: in the scan itself, what is there is taken for all there is.
 */
export async function scanTags(window: ByteWindow, scan: Scan): Promise<ScanState> {
  const visitor = {
    tag: (tag: Tag): undefined => takeTag(scan, tag),
    fileHeader: (position: number) => takeFileHeader(scan, position),
  }
  const options = { visitor, stopAt: Infinity }
  await walkTags(window, scan.state.walk, { ...options, end: 'open' })
  const resume = keepState(scan)
  await walkTags(window, scan.state.walk, { ...options, end: 'closed' })
  settleMarks(scan)
  const last = scan.sections.at(-1)
  if (last !== undefined && scan.state.mode !== 'waiting') last.endOffset = scan.state.walk.position
  return resume
}

function takeFileHeader(scan: Scan, position: number): void {
  settleMarks(scan)
  closeSection(scan, position, 'key frame')
  scan.state.isNewFile = true
}

function takeTag(scan: Scan, tag: Tag): undefined {
  if (tag.type !== SOUND_TAG && tag.type !== VIDEO_TAG) return
  if (tag.isEncrypted) {
    scan.state.counts.encrypted += 1
    return
  }
  if (tag.type === VIDEO_TAG) {
    for (const body of parseVideoBody(tag)) takeVideo(scan, tag, body)
  } else {
    for (const body of parseAudioBody(tag)) takeAudio(scan, tag, body)
  }
}

function takeVideo(scan: Scan, tag: Tag, body: VideoBody): void {
  const { video, counts } = scan.state
  if (body.kind === 'other') {
    counts.otherVideo ??= body.name
    dropPicture(scan)
    return
  }
  if (body.trackId !== (video.trackId ?? body.trackId)) return
  if (body.kind === 'set-up') {
    const record = readVideoSetUp(body.codec, body.config)
    const number = record && noteSetUp(scan, record)
    if (number === undefined) {
      counts.bareVideo ??= body.codec
      return
    }
    video.trackId = body.trackId
    video.setUp = number
    scan.state.isFresh = true
    return
  }
  const record = video.setUp === undefined ? undefined : scan.setUps[video.setUp]
  if (video.setUp === undefined || record?.codec !== body.codec) {
    counts.bareVideo ??= body.codec
    dropPicture(scan)
    return
  }
  counts.pictures += 1
  takeMark(scan, {
    kind: 'picture',
    position: tag.position,
    rawMs: tag.timeMs,
    compositionMs: body.compositionMs,
    isKey: body.isKey,
    ticks: 0,
    setUp: video.setUp,
  })
}

function takeAudio(scan: Scan, tag: Tag, body: AudioBody): void {
  const { sound, counts } = scan.state
  if (body.kind === 'other') {
    counts.otherSound ??= body.name
    return
  }
  if (body.trackId !== (sound.trackId ?? body.trackId)) return
  if (body.kind === 'set-up') {
    const record = readSoundSetUp(body.codec, body.config)
    if (record !== undefined) learnSound(scan, body.trackId, { tag, record })
    return
  }
  const head = tag.body.subarray(body.from)
  const frame = { ...body, head, sizeBytes: body.to - body.from }
  if (isPlainSound(body.codec)) {
    const described = describeFrame(body.codec, frame)
    if (described === undefined) return
    const record = plainSoundSetUp(body.codec, described)
    if (!isInForce(scan, record)) learnSound(scan, body.trackId, { tag, record })
  }
  const record = sound.setUp === undefined ? undefined : scan.setUps[sound.setUp]
  const ticks = record?.kind === 'sound' ? soundTicks(record, frame) : undefined
  if (sound.setUp === undefined || ticks === undefined) return
  takeMark(scan, {
    kind: 'sound',
    position: tag.position,
    rawMs: tag.timeMs,
    compositionMs: 0,
    isKey: false,
    ticks,
    setUp: sound.setUp,
  })
}

function isInForce({ state, setUps }: Scan, record: SoundSetUpRecord): boolean {
  const current = state.sound.setUp === undefined ? undefined : setUps[state.sound.setUp]
  return current !== undefined && isSame(current, record)
}

/** Sound in another form than the first of the recording is left out: it would need another transcoding, or none. */
function learnSound(
  scan: Scan,
  trackId: number,
  { tag, record }: { tag: Tag; record: SoundSetUpRecord },
): void {
  const { state } = scan
  const form = soundForm(record)
  const number = form === (state.soundForm ?? form) ? noteSetUp(scan, record) : undefined
  if (number !== undefined) {
    state.sound.trackId = trackId
    state.soundForm = form
  }
  state.sound.setUp = number
  if (number !== undefined) return
  settleMarks(scan)
  const isServed = state.mode === 'running' && scan.sections.at(-1)?.sound !== undefined
  if (isServed) closeSection(scan, tag.position, 'any frame')
}

function soundForm({ codec, sampleRate }: SoundSetUpRecord): string {
  return isPlainSound(codec) ? `${codec} ${sampleRate}` : 'as it is'
}

/** Number of the set-up in the list; undefined where there are too many. */
function noteSetUp({ setUps, state }: Scan, record: FlvSetUp): number | undefined {
  const known = setUps.findIndex((candidate) => isSame(candidate, record))
  if (known >= 0) return known
  const bytes = state.counts.setUpBytes + record.config.length
  if (setUps.length >= MAX_SET_UPS || bytes > MAX_SET_UPS_BYTES) return undefined
  state.counts.setUpBytes = bytes
  return setUps.push(record) - 1
}

function isSame(a: FlvSetUp, b: FlvSetUp): boolean {
  if (a.codec !== b.codec || Buffer.compare(a.config, b.config) !== 0) return false
  return a.kind === 'video' || b.kind === 'video' || a.sampleRate === b.sampleRate
}
