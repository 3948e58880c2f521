// Walks the tags of an FLV file, and finds its split points, discontinuities and configurations.
import { parseAudioBody } from './audio-tag.ts'
import type { AudioBody } from './audio-tag.ts'
import type { ReadWindow } from '../../storage/recordings/read-window.ts'
import { MAX_CONFIGS, MAX_CONFIGS_BYTES } from './flv-limits.ts'
import type { AudioConfigRecord, FlvConfig, ScanState } from './flv-source.ts'
import { dropFrame, settleMarks, takeMark } from './scan-marks.ts'
import { closeSection } from './scan-section.ts'
import { keepState, noteFlaw } from './scan-state.ts'
import type { Scan } from './scan-state.ts'
import { audioTicks, describeFrame, plainAudioConfig, readAudioConfig } from './audio-config.ts'
import { AUDIO_CODECS, isPlayedAudio } from '../codec/audio-codecs.ts'
import type { PlayedAudio, TranscodedCodec } from '../codec/audio-codecs.ts'
import type { AudioFrame } from '../codec/audio-frame.ts'
import { AUDIO_TAG, isTagType, VIDEO_TAG, walkTags } from './tag-walk.ts'
import type { Tag } from './tag-walk.ts'
import { recordedSets, sampleSets } from '../codec/parameter-sets.ts'
import { readVideoConfig } from './video-config.ts'
import { parseVideoBody } from './video-tag.ts'
import type { VideoBody } from './video-tag.ts'

/**
 * Continues the scan to the end of the file. Returns the state to continue with when the file
 * grows; the scan itself takes the file as complete.
 */
export async function scanTags(window: ReadWindow, scan: Scan): Promise<ScanState> {
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
  const seconds = scan.state.endMs / 1000
  noteFlaw(scan, { code: 'corrupt', lengthBytes: to - from, offsetBytes: from, seconds })
}

/** Records a file that does not end with a whole tag. */
async function noteEnd(scan: Scan, window: ReadWindow): Promise<void> {
  const { position, lostFrom } = scan.state.walk
  if (lostFrom === undefined && position >= window.limit) return
  const offsetBytes = lostFrom ?? position
  const [type] = await window.peek(offsetBytes, 1)
  if (type !== undefined && isTagType(type)) {
    noteFlaw(scan, { code: 'truncated', unit: 'tag', offsetBytes })
    return
  }
  const lengthBytes = window.limit - offsetBytes
  noteFlaw(scan, { code: 'corrupt', lengthBytes, offsetBytes, seconds: scan.state.endMs / 1000 })
}

function takeFileHeader(scan: Scan, position: number): void {
  settleMarks(scan)
  closeSection(scan, position, 'key frame')
  scan.state.isNewFile = true
}

function takeTag(scan: Scan, tag: Tag): undefined {
  if (tag.type !== AUDIO_TAG && tag.type !== VIDEO_TAG) return
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
    dropFrame(scan)
    return
  }
  if (body.trackId !== (video.trackId ?? body.trackId)) {
    noteFurtherTrack(scan, tag, { code: 'video-not-served', trackId: body.trackId })
    return
  }
  if (body.kind === 'set-up') {
    const number = noteConfig(scan, body, () => readVideoConfig(body.codec, body.config))
    if (number === undefined) {
      counts.bareVideo ??= body.codec
      return
    }
    video.trackId = body.trackId
    video.config = number
    scan.state.isFresh = true
    return
  }
  const record = video.config === undefined ? undefined : scan.configs[video.config]
  if (video.config === undefined || record?.codec !== body.codec) {
    counts.bareVideo ??= body.codec
    dropFrame(scan)
    return
  }
  counts.frames += 1
  takeMark(scan, {
    kind: 'frame',
    position: tag.position,
    rawMs: tag.timeMs,
    compositionMs: body.compositionMs,
    isKey: body.isKey,
    ticks: 0,
    config: video.config,
    sets: body.isKey ? keyFrameSets(record, tag.body.subarray(body.from, body.to)) : [],
  })
}

/** Recorders may repeat or change parameter sets in the frames, too. */
function keyFrameSets({ codec, config }: FlvConfig, head: Uint8Array): Uint8Array[] {
  if (codec !== 'h264' && codec !== 'hevc' && codec !== 'av1') return []
  return sampleSets(codec, head, recordedSets(codec, config).lengthBytes)
}

function takeAudio(scan: Scan, tag: Tag, body: AudioBody): void {
  const { audio, counts } = scan.state
  if (body.kind === 'other') {
    noteLeftOut(scan, tag, { code: 'audio-codec-changed', codec: body.name })
    counts.otherAudio ??= body.name
    return
  }
  if (body.trackId !== (audio.trackId ?? body.trackId)) {
    noteFurtherTrack(scan, tag, { code: 'audio-not-served', trackId: body.trackId })
    return
  }
  if (body.kind === 'set-up') {
    const number = noteConfig(scan, body, () => readAudioConfig(body.codec, body.config))
    if (number !== undefined) learnAudio(scan, { tag, trackId: body.trackId, number })
    else noteInvalidAudio(scan, tag, body.codec)
    return
  }
  const { codec, sampleRate, channels, from, to } = body
  const frame = { codec, sampleRate, channels, head: tag.body.subarray(from), sizeBytes: to - from }
  if (!isPlayedAudio(body.codec)) {
    const described = describeFrame(body.codec, frame)
    if (described === undefined) return
    const number = notePlainAudio(scan, body.codec, described)
    if (number !== undefined) learnAudio(scan, { tag, trackId: body.trackId, number })
  }
  const record = audio.config === undefined ? undefined : scan.configs[audio.config]
  const ticks = record?.kind === 'audio' ? audioTicks(record, frame) : undefined
  if (audio.config === undefined || ticks === undefined) return
  takeMark(scan, {
    kind: 'audio',
    position: tag.position,
    rawMs: tag.timeMs,
    compositionMs: 0,
    isKey: false,
    ticks,
    config: audio.config,
    sets: [],
  })
}

/** Number of the configuration of audio that needs none. */
function notePlainAudio(
  { state, configs }: Scan,
  codec: TranscodedCodec,
  frame: AudioFrame,
): number | undefined {
  const isSame = (setup: FlvConfig | undefined) =>
    setup?.kind === 'audio' && setup.codec === codec && setup.sampleRate === frame.sampleRate
  const current = state.audio.config
  if (current !== undefined && isSame(configs[current])) return current
  const known = configs.findIndex(isSame)
  if (known >= 0) return known
  return configs.length < MAX_CONFIGS ? configs.push(plainAudioConfig(codec, frame)) - 1 : undefined
}

/** Audio of another form is omitted: it would need another transcoding, or none. */
function learnAudio(
  scan: Scan,
  { tag, trackId, number }: { tag: Tag; trackId: number; number: number },
): void {
  const { state, configs, sections } = scan
  const setup = configs[number]
  if (state.audio.config === number || setup?.kind !== 'audio') return
  const form = audioForm(setup)
  const isServed = sections.some(({ audio }) => audio !== undefined)
  if (isServed && form !== state.audioForm) {
    noteLeftOut(scan, tag, { code: 'audio-codec-changed', codec: setup.codecName })
    return
  }
  state.audio.trackId = trackId
  state.audioForm = form
  state.audio.config = number
}

/** One video and one audio track are served. */
function noteFurtherTrack(
  scan: Scan,
  { position }: Tag,
  { code, trackId }: { code: 'video-not-served' | 'audio-not-served'; trackId: number },
): void {
  const { furtherTracks } = scan.state.counts
  const name = `${code} ${trackId}`
  if (furtherTracks.includes(name)) return
  furtherTracks.push(name)
  noteFlaw(scan, { code, cause: { code: 'track-limit', tracks: 1 }, offsetBytes: position })
}

/** Without its configuration, the audio is not served; that of before stays. */
function noteInvalidAudio(scan: Scan, tag: Tag, codec: PlayedAudio): void {
  noteLeftOut(scan, tag, { code: 'audio-config-invalid', codec: AUDIO_CODECS[codec].name })
}

/** Once per codec. */
function noteLeftOut(
  scan: Scan,
  { position }: Tag,
  cause: { code: 'audio-codec-changed' | 'audio-config-invalid'; codec: string },
): void {
  const isNoted = scan.state.flaws.some(
    (flaw) =>
      flaw.code === 'audio-not-served' &&
      flaw.cause.code === cause.code &&
      flaw.cause.codec === cause.codec,
  )
  if (!isNoted) noteFlaw(scan, { code: 'audio-not-served', cause, offsetBytes: position })
}

function audioForm({ codec, sampleRate }: AudioConfigRecord): string {
  return isPlayedAudio(codec) ? 'as it is' : `${codec} ${sampleRate}`
}

/** Number of the configuration in the list; undefined if it is invalid, or too many exist. */
function noteConfig(
  { configs, state }: Scan,
  { codec, config }: { codec: string; config: Uint8Array },
  read: () => FlvConfig | undefined,
): number | undefined {
  const known = configs.findIndex((setup) => setup.codec === codec && isSameConfig(setup, config))
  if (known >= 0) return known
  const bytes = state.counts.configBytes + config.length
  if (configs.length >= MAX_CONFIGS || bytes > MAX_CONFIGS_BYTES) return undefined
  const setup = read()
  if (setup === undefined) return undefined
  state.counts.configBytes = bytes
  return configs.push(setup) - 1
}

/** VP9 is stored as a whole box, whichever form it came in. */
function isSameConfig(setup: FlvConfig, config: Uint8Array): boolean {
  if (Buffer.compare(setup.config, config) === 0) return true
  return setup.codec === 'vp9' && Buffer.compare(setup.config.subarray(4), config) === 0
}
