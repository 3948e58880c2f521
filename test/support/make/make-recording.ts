// Recordings of any container: a list of frames with times and of other events, which the writer of
// each container encodes.
import {
  AAC,
  aacConfig,
  audioConfigTag,
  audioTag,
  avcConfig,
  flvHeader,
  flvTag,
  frameTag,
  madeAudio,
  videoConfigTag,
} from './make-flv.ts'
import * as fmp4 from './make-fmp4.ts'
import * as mkv from './make-mkv.ts'
import { AVC_C, avc1, mp4a } from './make-mp4.ts'
import {
  AAC_STREAM,
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  VIDEO_PID,
} from './make-ts.ts'

/** The announced tracks: one of each kind, audio alone, or audio in two languages. */
export type AnnouncedTracks = 'usual' | 'radio' | 'languages'

/** What a recorder writes next. Times in milliseconds, without wraps. */
type RecordingItem = HeadItem | FrameItem | AudioItem | { kind: 'noise' } | { kind: 'loss' }

/** Tables, configurations or headers; another `version` repeats them in another form. */
interface HeadItem {
  kind: 'head'
  timeMs: number
  tracks: AnnouncedTracks
  video: 0 | 1
  audio: 0 | 1
  version: number
}

/** A frame of a quarter of a second. */
interface FrameItem {
  kind: 'frame'
  frame: 'key' | 'recovery' | 'plain'
  number: number
  dtsMs: number
  ptsMs: number
  /** Of the latest configuration. */
  video: 0 | 1
}

/** Consecutive AAC frames of 1024 samples at 48 kHz, the first one with this number. */
interface AudioItem {
  kind: 'audio'
  first: number
  count: number
}

export const FRAME_MS = 250
const AAC_FRAME_MS = 1024 / 48
const NOISE = new Uint8Array(301).fill(0x47, 3, 100)
/** AudioSpecificConfig of AAC-LC with one channel. */
const MONO = Buffer.of(0x11, 0x88)

/** An event of a session; frames are 250 ms apart, with audio beside them unless it says so. */
export type RecordingEvent = keyof typeof ACTIONS

const ACTIONS = {
  gop: (session) => session.gop('key', 4),
  'dense gops': (session) => {
    for (let i = 0; i < 4; i += 1) session.gop('key', 2)
  },
  'long gop': (session) => session.gop('key', 60),
  'b-frames': (session) => {
    for (const [i, shownAfter] of [2, 4, 1, 1, 2, 4, 1, 1].entries())
      session.unit({ frame: i === 0 ? 'key' : 'plain', shownAfter })
  },
  'recovery points': (session) => {
    for (let i = 0; i < 9; i += 1) session.gop('recovery', 4)
  },
  'no key frame': (session) => session.gop('plain', 2),
  'audio only': (session) => {
    for (let i = 0; i < 100; i += 1) session.unit({ frame: 'none' })
  },
  'video only': (session) => {
    for (let i = 0; i < 45; i += 1)
      session.unit({ frame: i % 5 === 0 ? 'key' : 'plain', audio: 'none' })
  },
  'late audio': (session) => session.audio(session.clockMs - 3000),
  'audio far ahead': (session) => session.audio(session.clockMs + 700_000),
  'a jump back': (session) => session.jump(-100_000, 'key'),
  'a jump ahead': (session) => session.jump(3_000_000, 'key'),
  'a pause': (session) => session.jump(12_000, 'key'),
  'a jump within a GOP': (session) => session.jump(-500_000, 'plain'),
  'a wrong time': (session) => {
    const { clockMs } = session
    session.clockMs += 77_777_000
    session.unit({ frame: 'plain', audio: 'none' })
    session.clockMs = clockMs
  },
  'the same head': (session) => session.head(),
  'another form of the head': (session) => session.head({ version: session.state.version + 1 }),
  'other video': (session) => session.head({ video: session.state.video === 0 ? 1 : 0 }),
  'other audio': (session) => session.head({ audio: session.state.audio === 0 ? 1 : 0 }),
  noise: (session) => session.items.push({ kind: 'noise' }),
  loss: (session) => session.items.push({ kind: 'loss' }),
} satisfies Record<string, (session: MadeSession) => void>

export const RECORDING_EVENTS = Object.keys(ACTIONS) as RecordingEvent[]

/** A session as a list of items, which its methods append to. */
export class MadeSession {
  readonly items: RecordingItem[] = []
  clockMs: number
  state: Pick<HeadItem, 'tracks' | 'video' | 'audio' | 'version'>
  #frames = 0

  constructor(startMs = 10_000_000, tracks: AnnouncedTracks = 'usual') {
    this.clockMs = startMs
    this.state = { tracks, video: 0, audio: 0, version: 0 }
  }

  head(change: Partial<MadeSession['state']> = {}): this {
    this.state = { ...this.state, ...change }
    this.items.push({ kind: 'head', timeMs: this.clockMs, ...this.state })
    return this
  }

  /** A quarter of a second: audio, then a frame that is shown some frames after its decode time. */
  unit({
    frame = 'plain',
    audio = 'with',
    shownAfter = 1,
  }: {
    frame?: FrameItem['frame'] | 'none'
    audio?: 'with' | 'none'
    shownAfter?: number
  } = {}): void {
    const dtsMs = this.clockMs
    if (audio === 'with') this.audio(dtsMs)
    if (frame !== 'none' && this.state.tracks !== 'radio') {
      const ptsMs = dtsMs + shownAfter * FRAME_MS
      const { video } = this.state
      this.items.push({ kind: 'frame', frame, number: this.#frames, dtsMs, ptsMs, video })
      this.#frames += 1
    }
    this.clockMs += FRAME_MS
  }

  audio(fromMs: number): void {
    const first = Math.ceil(fromMs / AAC_FRAME_MS)
    const end = Math.ceil((fromMs + FRAME_MS) / AAC_FRAME_MS)
    this.items.push({ kind: 'audio', first, count: end - first })
  }

  gop(first: FrameItem['frame'], frames: number): this {
    for (let i = 0; i < frames; i += 1) this.unit({ frame: i === 0 ? first : 'plain' })
    return this
  }

  jump(byMs: number, first: FrameItem['frame']): void {
    this.clockMs += byMs
    this.gop(first, 4)
  }

  add(...events: RecordingEvent[]): this {
    for (const event of events) ACTIONS[event](this)
    return this
  }
}

/** `seconds` with a GOP and audio each second. */
export function plainSession(seconds: number): MadeSession {
  const session = new MadeSession().head()
  for (let second = 0; second < seconds; second += 1) session.gop('key', 4)
  return session
}

/** Writers by what they write: a chunk for each packet, tag, fragment or cluster. */
export const RECORDERS = {
  'MPEG-TS': ({ items }) => writeTs(items),
  'MPEG-TS in packets of 192 bytes': ({ items }) => writeTs(items).map(withTimeCode),
  FLV: ({ items }) => writeFlv(items),
  'fragmented MP4': ({ items }) => writeFmp4(items),
  'Matroska with open clusters': ({ items }) => writeMkv(items, 'open'),
  'Matroska with clusters of known size': ({ items }) => writeMkv(items, 'known'),
} satisfies Record<string, (session: MadeSession) => Uint8Array[]>

/** Half of the last chunk was never written. */
function truncateLast(chunks: Uint8Array[]): void {
  const last = chunks.pop()
  if (last !== undefined) chunks.push(last.subarray(0, last.length / 2))
}

const OTHER_AUDIO_PID = 0x105
const SECOND_LANGUAGE = { type: 0x0f, pid: 0x106 }
const PRIVATE_DATA = { type: 0x81, pid: 0x110 }

function writeTs(items: readonly RecordingItem[]): Uint8Array[] {
  const maker = createTsMaker()
  const chunks: Uint8Array[] = []
  let pids: number[] = [AUDIO_PID]
  // Audio that the next frame is interleaved with.
  let audio: Uint8Array[] = []
  const audioPackets = ({ first, count }: AudioItem) =>
    pids.flatMap((pid) =>
      maker.pes(pid, { pts: Math.round(first * AAC_FRAME_MS * 90) }, adtsFrames(count, 40)),
    )
  for (const item of items) {
    if (item.kind !== 'frame') chunks.push(...audio.splice(0))
    if (item.kind === 'head') {
      const own = { ...AAC_STREAM, pid: item.audio === 0 ? AUDIO_PID : OTHER_AUDIO_PID }
      const audioTracks = item.tracks === 'languages' ? [own, SECOND_LANGUAGE] : [own]
      pids = audioTracks.map(({ pid }) => pid)
      const streams = [
        ...(item.tracks === 'radio' ? [] : [H264_STREAM]),
        ...(item.version % 2 === 0 ? [] : [PRIVATE_DATA]),
        ...audioTracks,
      ]
      chunks.push(...maker.pat(), ...maker.pmt(streams, { version: item.version % 32 }))
    } else if (item.kind === 'audio') {
      audio = audioPackets(item)
    } else if (item.kind === 'frame') {
      const { frame, ptsMs, dtsMs } = item
      const bytes = h264Frame(frame === 'key' && item.video === 1 ? 'other key' : frame, 500)
      const packets = maker.pes(VIDEO_PID, { pts: ptsMs * 90, dts: dtsMs * 90 }, bytes)
      chunks.push(...audio.splice(0, 1), ...packets.splice(0, 1), ...audio.splice(0), ...packets)
    } else if (item.kind === 'noise') {
      chunks.push(NOISE)
    } else {
      maker.pes(VIDEO_PID, { pts: 0 }, h264Frame('plain', 300))
      truncateLast(chunks)
    }
  }
  chunks.push(...audio)
  return chunks
}

/** With a time code that equals sync bytes, the hardest one. */
function withTimeCode(packet: Uint8Array): Uint8Array {
  return packet.length === 188 ? Buffer.concat([Buffer.alloc(4, 0x47), packet]) : packet
}

function writeFlv(items: readonly RecordingItem[]): Uint8Array[] {
  const chunks = [flvHeader()]
  for (const item of items) {
    if (item.kind === 'head') {
      const { timeMs, tracks } = item
      const config = avcConfig(item.video === 0 ? 0x0b : 0x15)
      if (tracks !== 'radio') chunks.push(flvTag(videoConfigTag({ codec: 7 }, timeMs, config)))
      const audio = item.audio === 0 ? aacConfig() : MONO
      chunks.push(flvTag(audioConfigTag(AAC, timeMs, audio)))
    } else if (item.kind === 'audio') {
      for (const number of numbersOf(item)) {
        chunks.push(flvTag(audioTag(AAC, audioMs(number), madeAudio(number))))
      }
    } else if (item.kind === 'frame') {
      const { frame, dtsMs: timeMs, ptsMs } = item
      const compositionMs = ptsMs - timeMs
      const isKey = frame === 'key'
      const data = sampleBytes(item)
      chunks.push(flvTag(frameTag({ codec: 7 }, { timeMs, compositionMs, isKey, data })))
    } else if (item.kind === 'noise') {
      chunks.push(NOISE)
    } else {
      truncateLast(chunks)
    }
  }
  return chunks
}

/** Most frames of a fragment. */
const FRAGMENT_FRAMES = 8
const SECOND_AUDIO = { ...fmp4.AAC_TRACK, id: 3 }

function writeFmp4(items: readonly RecordingItem[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  let audioIds = [2]
  // Another form of the head: a fragment for each track.
  let isSplit = false
  let frames: FrameItem[] = []
  let audio: AudioItem[] = []
  const flush = (): void => {
    const samples = frames.map((item) => ({
      data: sampleBytes(item),
      duration: FRAME_MS * 90,
      offset: (item.ptsMs - item.dtsMs) * 90,
      isKey: item.frame === 'key',
    }))
    const trafs: fmp4.TrafPlan[] = []
    const [firstFrame] = frames
    const [firstAudio] = audio
    if (firstFrame) trafs.push({ trackId: 1, samples, decodeTicks: firstFrame.dtsMs * 90 })
    for (const trackId of firstAudio ? audioIds : []) {
      const numbers = audio.flatMap(numbersOf)
      const packets = numbers.map((number) => ({ data: madeAudio(number), duration: 1024 }))
      const decodeTicks = (firstAudio?.first ?? 0) * 1024
      trafs.push({
        trackId,
        samples: packets.map((each) => ({ ...each, isKey: true })),
        decodeTicks,
      })
    }
    if (isSplit) chunks.push(...trafs.map((traf) => fmp4.fragment([traf])))
    else if (trafs.length > 0) chunks.push(fmp4.fragment(trafs))
    frames = []
    audio = []
  }
  for (const item of items) {
    if (item.kind === 'frame') {
      const last = frames.at(-1)
      const follows = last === undefined || item.dtsMs === last.dtsMs + FRAME_MS
      if (!follows || item.frame === 'key' || frames.length === FRAGMENT_FRAMES) flush()
      frames.push(item)
    } else if (item.kind === 'audio') {
      const last = audio.at(-1)
      if (last !== undefined && item.first !== last.first + last.count) flush()
      audio.push(item)
    } else {
      flush()
      if (item.kind === 'noise') chunks.push(NOISE)
      else if (item.kind === 'loss') chunks.splice(Math.max(1, chunks.length - 1))
      else chunks.push(fmp4.initSegment(fmp4Tracks(item)))
      if (item.kind !== 'head') continue
      audioIds = item.tracks === 'languages' ? [2, 3] : [2]
      isSplit = item.version % 2 === 1
    }
  }
  flush()
  return chunks
}

function fmp4Tracks({ tracks, video, audio }: HeadItem): fmp4.FragmentTrackPlan[] {
  const size = video === 0 ? 320 : 640
  const frames = { ...fmp4.H264_TRACK, sampleEntries: [avc1(AVC_C, size)] }
  const own = audio === 0 ? fmp4.AAC_TRACK : { ...fmp4.AAC_TRACK, sampleEntries: [mp4a(MONO)] }
  if (tracks === 'radio') return [own]
  return tracks === 'languages' ? [frames, own, SECOND_AUDIO] : [frames, own]
}

const SECOND_MKV_AUDIO = { ...mkv.AAC_TRACK, number: 4 }
/** A subtitle begins with every such frame. */
const CUE_EVERY = 20

function writeMkv(items: readonly RecordingItem[], size: 'known' | 'open'): Uint8Array[] {
  const chunks: Uint8Array[] = []
  let audioNumbers = [2]
  const blocks: mkv.BlockPlan[] = []
  const flush = (): void => {
    chunks.push(...mkv.clusters(blocks.splice(0), { size }))
  }
  for (const item of items) {
    if (item.kind === 'frame') {
      const { number, ptsMs: time, frame } = item
      if (number % CUE_EVERY === CUE_EVERY - 1) blocks.push(cue(time, number))
      blocks.push({ track: 1, time, frames: [sampleBytes(item)], isKey: frame === 'key' })
    } else if (item.kind === 'audio') {
      for (const number of numbersOf(item)) {
        const block = { time: audioMs(number), frames: [madeAudio(number)] }
        blocks.push(...audioNumbers.map((track) => ({ ...block, track })))
      }
    } else {
      flush()
      if (item.kind === 'noise') chunks.push(NOISE)
      else if (item.kind === 'loss') truncateLast(chunks)
      else chunks.push(mkv.mkvFile(mkvTracks(item), []))
      if (item.kind === 'head') audioNumbers = item.tracks === 'languages' ? [2, 4] : [2]
    }
  }
  flush()
  return chunks
}

function cue(time: number, number: number): mkv.BlockPlan {
  return { track: 3, time, frames: [Buffer.from(`line ${number}`)], form: 'group', duration: 900 }
}

function mkvTracks({ tracks, video, audio }: HeadItem): mkv.TrackPlan[] {
  const codecPrivate = Buffer.from(video === 0 ? mkv.AVC_CONFIG : avcConfig(0x15))
  const own = audio === 0 ? mkv.AAC_TRACK : { ...mkv.AAC_TRACK, codecPrivate: MONO, channels: 1 }
  if (tracks === 'radio') return [own]
  const others = tracks === 'languages' ? [SECOND_MKV_AUDIO] : []
  return [{ ...mkv.H264_TRACK, codecPrivate }, own, mkv.SRT_TRACK, ...others]
}

/** A slice with its length before it, different for every frame. */
function sampleBytes({ frame, number }: FrameItem): Buffer {
  const bytes = Buffer.alloc(60 + (number % 11), 0x55)
  bytes.writeUInt32BE(bytes.length - 4)
  bytes[4] = frame === 'key' ? 0x65 : 0x41
  bytes.writeUInt32BE(0x80_00_00_00 + number, 8)
  return bytes
}

function numbersOf({ first, count }: AudioItem): number[] {
  return Array.from({ length: count }, (_, i) => first + i)
}

function audioMs(number: number): number {
  return Math.round(number * AAC_FRAME_MS)
}
