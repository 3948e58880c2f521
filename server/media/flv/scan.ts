// Goes through the tags of an FLV file and notes where its cuts, breaks and set-ups are.
import { parseAudioBody } from './audio-tag.ts'
import type { AudioBody } from './audio-tag.ts'
import type { ByteWindow } from './byte-window.ts'
import { MAX_SET_UPS, MAX_SET_UPS_BYTES } from './flv-limits.ts'
import type { FlvSetUp, PlainSound, SoundSetUpRecord } from './flv-source.ts'
import { dropPicture, settleMarks, takeMark } from './scan-marks.ts'
import { closeSection } from './scan-section.ts'
import { keepState, noteFlaw } from './scan-state.ts'
import type { ScanState } from './scan-progress.ts'
import type { Scan } from './scan-state.ts'
import { describeFrame, isPlainSound, soundTicks } from './sound-frame.ts'
import type { SoundFrame } from './sound-frame.ts'
import { plainSoundSetUp, readSoundSetUp } from './sound-set-up.ts'
import { SOUND_TAG, VIDEO_TAG, isTagType, walkTags } from './tag-walk.ts'
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
    skipped: (from: number, to: number) => noteSkipped(scan, from, to),
  }
  const options = { visitor, stopAt: Infinity }
  await walkTags(window, scan.state.walk, { ...options, end: 'open' })
  const resume = keepState(scan)
  await walkTags(window, scan.state.walk, { ...options, end: 'closed' })
  settleMarks(scan)
  await noteEnd(scan, window)
  const last = scan.sections.at(-1)
  if (last !== undefined && scan.state.mode !== 'waiting') last.endOffset = scan.state.walk.position
  return resume
}

function noteSkipped(scan: Scan, from: number, to: number): void {
  const message = `${to - from} bytes that are no FLV were skipped`
  const seconds = scan.state.endMs / 1000
  noteFlaw(scan, { kind: 'damaged', message, offsetBytes: from, seconds })
}

/** Notes where the file ends otherwise than behind a tag. */
async function noteEnd(scan: Scan, window: ByteWindow): Promise<void> {
  const { position, lostFrom } = scan.state.walk
  if (lostFrom === undefined && position >= window.limit) return
  const offsetBytes = lostFrom ?? position
  const [type] = await window.peek(offsetBytes, 1)
  if (type !== undefined && isTagType(type)) {
    noteFlaw(scan, {
      kind: 'cut-off',
      message: 'the file ends in the middle of a tag',
      offsetBytes,
    })
    return
  }
  const message = `${window.limit - offsetBytes} bytes at the end are no FLV`
  noteFlaw(scan, { kind: 'damaged', message, offsetBytes, seconds: scan.state.endMs / 1000 })
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
    const number = noteSetUp(scan, body, () => readVideoSetUp(body.codec, body.config))
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
    noteLeftOut(scan, tag, body.name)
    counts.otherSound ??= body.name
    return
  }
  if (body.trackId !== (sound.trackId ?? body.trackId)) return
  if (body.kind === 'set-up') {
    const number = noteSetUp(scan, body, () => readSoundSetUp(body.codec, body.config))
    if (number !== undefined) learnSound(scan, { tag, trackId: body.trackId, number })
    return
  }
  const { codec, sampleRate, channels, from, to } = body
  const frame = { codec, sampleRate, channels, head: tag.body.subarray(from), sizeBytes: to - from }
  if (isPlainSound(body.codec)) {
    const described = describeFrame(body.codec, frame)
    if (described === undefined) return
    const number = notePlainSound(scan, body.codec, described)
    if (number !== undefined) learnSound(scan, { tag, trackId: body.trackId, number })
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

/** Number of the set-up of sound that needs none. */
function notePlainSound(
  { state, setUps }: Scan,
  codec: PlainSound,
  frame: SoundFrame,
): number | undefined {
  const isSame = (setUp: FlvSetUp | undefined) =>
    setUp?.kind === 'sound' && setUp.codec === codec && setUp.sampleRate === frame.sampleRate
  const current = state.sound.setUp
  if (current !== undefined && isSame(setUps[current])) return current
  const known = setUps.findIndex(isSame)
  if (known >= 0) return known
  return setUps.length < MAX_SET_UPS ? setUps.push(plainSoundSetUp(codec, frame)) - 1 : undefined
}

/** Sound in another form than what is served is left out: it would need another transcoding, or none. */
function learnSound(
  scan: Scan,
  { tag, trackId, number }: { tag: Tag; trackId: number; number: number },
): void {
  const { state, setUps, sections } = scan
  const setUp = setUps[number]
  if (state.sound.setUp === number || setUp?.kind !== 'sound') return
  const form = soundForm(setUp)
  const isServed = sections.some(({ sound }) => sound !== undefined)
  if (isServed && form !== state.soundForm) {
    noteLeftOut(scan, tag, setUp.codecName)
    return
  }
  state.sound.trackId = trackId
  state.soundForm = form
  state.sound.setUp = number
}

/** Once for each codec. */
function noteLeftOut(scan: Scan, { position }: Tag, codecName: string): void {
  const message = `sound was left out: it is ${codecName}`
  if (scan.state.flaws.some((flaw) => flaw.message === message)) return
  noteFlaw(scan, { kind: 'sound-left-out', message, offsetBytes: position })
}

function soundForm({ codec, sampleRate }: SoundSetUpRecord): string {
  return isPlainSound(codec) ? `${codec} ${sampleRate}` : 'as it is'
}

/** Number of the set-up in the list; undefined where it cannot be read, or where there are too many. */
function noteSetUp(
  { setUps, state }: Scan,
  { codec, config }: { codec: string; config: Uint8Array },
  read: () => FlvSetUp | undefined,
): number | undefined {
  const known = setUps.findIndex((setUp) => setUp.codec === codec && isSameConfig(setUp, config))
  if (known >= 0) return known
  const bytes = state.counts.setUpBytes + config.length
  if (setUps.length >= MAX_SET_UPS || bytes > MAX_SET_UPS_BYTES) return undefined
  const setUp = read()
  if (setUp === undefined) return undefined
  state.counts.setUpBytes = bytes
  return setUps.push(setUp) - 1
}

/** That of VP9 is kept as a whole box, whichever way it came. */
function isSameConfig(setUp: FlvSetUp, config: Uint8Array): boolean {
  if (Buffer.compare(setUp.config, config) === 0) return true
  return setUp.codec === 'vp9' && Buffer.compare(setUp.config.subarray(4), config) === 0
}
