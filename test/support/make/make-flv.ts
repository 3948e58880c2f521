// Makes FLV files tag by tag, from made-up frames or from the packets of another recording, so that
// tests can lay them out in any way.
import { AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_VIDEO } from 'node-av/constants'
import { eachPacket, withDemuxer } from '../ffmpeg.ts'

/** One tag before it is written. */
export interface FlvTag {
  kind: 'audio' | 'video' | 'script'
  /** Milliseconds; written with 32 bits, whatever is above is lost. */
  timeMs: number
  body: Uint8Array
  /** PreviousTagSize after the tag, if it should be wrong; `none` omits it. */
  trailer?: number | 'none'
  isEncrypted?: boolean
}

const TYPES = { audio: 8, video: 9, script: 18 }

/** File header and the first PreviousTagSize. */
export function flvHeader(): Uint8Array {
  return Uint8Array.of(0x46, 0x4c, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0)
}

/** A tag as written, with its size after it. */
export function flvTag({ kind, timeMs, body, trailer, isEncrypted }: FlvTag): Uint8Array {
  const header = Buffer.alloc(11)
  header.writeUInt8(TYPES[kind] + (isEncrypted === true ? 0x20 : 0), 0)
  header.writeUIntBE(body.length, 1, 3)
  header.writeUIntBE(timeMs & 0xffffff, 4, 3)
  header.writeUInt8(Math.floor(timeMs / 0x1000000) & 0xff, 7)
  const size = Buffer.alloc(trailer === 'none' ? 0 : 4)
  if (trailer !== 'none') size.writeUInt32BE(trailer ?? 11 + body.length, 0)
  return Buffer.concat([header, body, size])
}

/** A whole file. A prefix that ends after any tag is a file that is still being written. */
export function flvFile(tags: readonly FlvTag[]): Buffer {
  return Buffer.concat([flvHeader(), ...tags.map(flvTag)])
}

/** `onMetaData` with numbers, as recorders write it first. */
export function metadataTag(values: Record<string, number>): FlvTag {
  const name = (text: string) => [Uint8Array.of(text.length >> 8, text.length & 0xff), latin1(text)]
  const entries = Object.entries(values).flatMap(([key, value]) => {
    const number = Buffer.alloc(9)
    number.writeDoubleBE(value, 1)
    return [...name(key), number]
  })
  const count = Buffer.alloc(5)
  count.writeUInt8(8, 0)
  count.writeUInt32BE(Object.keys(values).length, 1)
  const chunks = [
    Uint8Array.of(2),
    ...name('onMetaData'),
    count,
    ...entries,
    Uint8Array.of(0, 0, 9),
  ]
  return { kind: 'script', timeMs: 0, body: Buffer.concat(chunks) }
}

/** Header form of a video tag. */
export interface VideoForm {
  /** Codec of the first specification, or a four-character code of Enhanced RTMP. */
  codec: 7 | 12 | 2 | 4 | 'avc1' | 'hvc1' | 'av01' | 'vp09' | 'vp08'
  /** With a four-character code: modifiers before it, each with this many bytes. */
  modEx?: number[]
  /**
   * With a four-character code: number of the track, in a tag for one track; or tags for several.
   */
  track?: number
}

/** Decoder configuration (sequence header). */
export function videoConfigTag(form: VideoForm, timeMs: number, config: Uint8Array): FlvTag {
  const body =
    typeof form.codec === 'number'
      ? join(Uint8Array.of(0x10 | form.codec, 0, 0, 0, 0), config)
      : extendedBody({ ...form, codec: form.codec, first: 0x90, multitrack: 6 }, 0, config)
  return { kind: 'video', timeMs, body }
}

export interface Frame {
  timeMs: number
  compositionMs?: number
  isKey: boolean
  data: Uint8Array
}

export function frameTag(form: VideoForm, videoFrame: Frame): FlvTag {
  const { timeMs, compositionMs = 0, isKey, data } = videoFrame
  const frame = isKey ? 0x10 : 0x20
  const offset = Buffer.alloc(3)
  offset.writeIntBE(compositionMs, 0, 3)
  if (typeof form.codec === 'number') {
    const isSequenced = form.codec === 7 || form.codec === 12
    const head = isSequenced
      ? join(Uint8Array.of(frame | form.codec, 1), offset)
      : [frame | form.codec]
    return { kind: 'video', timeMs, body: join(Uint8Array.from(head), data) }
  }
  const isOffset = (form.codec === 'avc1' || form.codec === 'hvc1') && compositionMs !== 0
  const packetType = isOffset || form.codec === 'av01' || form.codec === 'vp09' ? 1 : 3
  const extended = { ...form, codec: form.codec, first: 0x80 | frame, multitrack: 6 }
  const body = extendedBody(extended, packetType, isOffset ? join(offset, data) : data)
  return { kind: 'video', timeMs, body }
}

/**
 * Header form of an audio tag: the first byte of the first specification, or a
 * four-character code.
 */
export interface AudioForm {
  codec: number | 'mp4a' | 'Opus' | 'fLaC' | 'ac-3' | 'ec-3' | '.mp3'
  modEx?: number[]
  track?: number
}

/** AAC, 16 bits, stereo (the rest is in the config). */
export const AAC: AudioForm = { codec: 0xaf }

export function audioConfigTag(form: AudioForm, timeMs: number, config: Uint8Array): FlvTag {
  return { kind: 'audio', timeMs, body: audioBody(form, 0, config) }
}

export function audioTag(form: AudioForm, timeMs: number, data: Uint8Array): FlvTag {
  return { kind: 'audio', timeMs, body: audioBody(form, 1, data) }
}

function audioBody(form: AudioForm, packetType: number, data: Uint8Array): Uint8Array {
  if (typeof form.codec === 'number') {
    const isAac = form.codec >> 4 === 10
    return join(Uint8Array.from(isAac ? [form.codec, packetType] : [form.codec]), data)
  }
  return extendedBody({ ...form, codec: form.codec, first: 0x90, multitrack: 5 }, packetType, data)
}

interface ExtendedForm {
  codec: string
  first: number
  multitrack: number
  modEx?: number[]
  track?: number
}

/** Enhanced RTMP v2, ExVideoTagHeader and ExAudioTagHeader. */
function extendedBody(form: ExtendedForm, packetType: number, data: Uint8Array): Uint8Array {
  const types = [
    ...(form.modEx ?? []).map(() => 7),
    form.track === undefined ? packetType : form.multitrack,
  ]
  const chunks: Uint8Array[] = [Uint8Array.of(form.first | (types[0] ?? 0))]
  form.modEx?.forEach((size, i) => {
    const length = size > 255 ? [255, (size - 1) >> 8, (size - 1) & 0xff] : [size - 1]
    chunks.push(Uint8Array.from(length), new Uint8Array(size), Uint8Array.of(types[i + 1] ?? 0))
  })
  if (form.track !== undefined) chunks.push(Uint8Array.of(packetType))
  chunks.push(latin1(form.codec))
  if (form.track !== undefined) chunks.push(Uint8Array.of(form.track))
  return Buffer.concat([...chunks, data])
}

/** A body that holds several tracks of one codec (AvMultitrackType.ManyTracks). */
export function manyTracksBody(
  { kind, codec, packetType }: { kind: 'audio' | 'video'; codec: string; packetType: number },
  tracks: readonly { track: number; data: Uint8Array }[],
): Uint8Array {
  const first = kind === 'audio' ? 0x95 : 0x96
  const chunks = tracks.flatMap(({ track, data }) => {
    const length = Buffer.alloc(3)
    length.writeUIntBE(data.length, 0, 3)
    return [Uint8Array.of(track), length, data]
  })
  return Buffer.concat([Uint8Array.of(first, 0x10 | packetType), latin1(codec), ...chunks])
}

/** avcC of 128x72 H.264 High, as x264 writes it; `level` distinguishes configs. */
export function avcConfig(level = 0x0b): Uint8Array {
  const sps = Buffer.from('6764000bac7611082fe5c044000003000400000300083c50a61180', 'hex')
  const pps = Buffer.from('68e8438104b22c', 'hex')
  sps.writeUInt8(level, 3)
  const head = Uint8Array.of(1, 0x64, 0, level, 0xff, 0xe1, 0, sps.length)
  return Buffer.concat([head, sps, Uint8Array.of(1, 0, pps.length), pps])
}

/** AudioSpecificConfig of AAC-LC with two channels. */
export function aacConfig(sampleRate: 44_100 | 48_000 = 48_000): Uint8Array {
  return sampleRate === 44_100 ? Uint8Array.of(0x12, 0x10) : Uint8Array.of(0x11, 0x90)
}

/**
 * A synthetic frame: filler data (NAL unit type 12) with its length before it, distinguished by
 * `seed`.
 */
export function madeFrame(seed: number, sizeBytes = 40): Uint8Array {
  const bytes = Buffer.alloc(sizeBytes, 0xff)
  bytes.writeUInt32BE(sizeBytes - 4, 0)
  bytes.writeUInt8(12, 4)
  bytes.write(`${seed}.`, 5, 'latin1')
  return bytes
}

/** A silent AAC frame, followed by bytes that make it unique. */
export function madeAudio(seed: number): Uint8Array {
  return Buffer.concat([Uint8Array.of(0x21, 0x10, 0x04, 0x60, 0x8c, 0x1c), latin1(`${seed}.`)])
}

export interface SmallPlan {
  seconds: number
  startMs?: number
  gopSeconds?: number
  framesPerSecond?: number
  /**
   * Groups of frames that are shown out of order: composition offsets of 2, 4, 1 and 1 frames.
   */
  bFrames?: boolean
  sampleRate?: 44_100 | 48_000
  audio?: 'none'
  video?: 'none'
  level?: number
  /** Without configs at the start, as where a recording continues. */
  configs?: 'none'
  frameBytes?: number
}

/**
 * A live stream as a recorder writes it: configs, then video and AAC in the order of their time
 * stamps.
 */
export function smallStream(plan: SmallPlan): FlvTag[] {
  const { seconds, startMs = 0, sampleRate = 44_100 } = plan
  const configs =
    plan.configs === 'none'
      ? []
      : [
          ...(plan.video === 'none'
            ? []
            : [videoConfigTag({ codec: 7 }, startMs, avcConfig(plan.level))]),
          ...(plan.audio === 'none' ? [] : [audioConfigTag(AAC, startMs, aacConfig(sampleRate))]),
        ]
  const frames = plan.video === 'none' ? [] : smallFrames(plan)
  const audioCount = plan.audio === 'none' ? 0 : Math.floor((seconds * sampleRate) / 1024)
  const audioTracks = Array.from({ length: audioCount }, (_, i) => {
    const timeMs = startMs + Math.round((i * 1024 * 1000) / sampleRate)
    return audioTag(AAC, timeMs, madeAudio(i + 7919 * startMs))
  })
  return [...configs, ...[...frames, ...audioTracks].toSorted((a, b) => a.timeMs - b.timeMs)]
}

function smallFrames(plan: SmallPlan): FlvTag[] {
  const { seconds, startMs = 0, gopSeconds = 2, framesPerSecond = 10 } = plan
  return Array.from({ length: seconds * framesPerSecond }, (_, i) => {
    const isKey = i % (gopSeconds * framesPerSecond) === 0
    const order = isKey ? 1 : ([2, 4, 1, 1][i % 4] ?? 1)
    return frameTag(
      { codec: 7 },
      {
        timeMs: startMs + Math.round((i * 1000) / framesPerSecond),
        compositionMs: plan.bFrames === true ? (order * 1000) / framesPerSecond : 0,
        isKey,
        data: madeFrame(i + 7919 * startMs, plan.frameBytes),
      },
    )
  })
}

/** Packets of a recording, their times in milliseconds. */
export interface SourceStream {
  kind: 'video' | 'audio'
  extradata: Uint8Array
  packets: { data: Uint8Array; timeMs: number; compositionMs: number; isKey: boolean }[]
}

/** Reads a recording with FFmpeg: its first video and its first audio. */
export async function readSourceStreams(path: string): Promise<SourceStream[]> {
  return withDemuxer(path, async (demuxer) => {
    const wanted = new Map<number, SourceStream>()
    for (const type of [AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO]) {
      const stream = demuxer.streams.find(({ codecpar }) => codecpar.codecType === type)
      if (stream === undefined) continue
      const extradata = Uint8Array.from(stream.codecpar.extradata ?? [])
      const kind = type === AVMEDIA_TYPE_VIDEO ? 'video' : 'audio'
      wanted.set(stream.index, { kind, extradata, packets: [] })
    }
    await eachPacket(demuxer, (packet, { index, timeBase: { num, den } }) => {
      const toMs = (ticks: bigint) => Math.round((Number(ticks) * num * 1000) / den)
      const timeMs = toMs(packet.dts)
      wanted.get(index)?.packets.push({
        data: Uint8Array.from(packet.data ?? []),
        timeMs,
        compositionMs: toMs(packet.pts) - timeMs,
        isKey: packet.isKeyframe,
      })
    })
    return [...wanted.values()]
  })
}

/**
 * A recording's packets as FLV in the order of their timestamps, the earliest at 0, configs first.
 */
export function repackStreams(
  streams: readonly SourceStream[],
  forms: { video: VideoForm; audio: AudioForm },
): FlvTag[] {
  const times = streams.flatMap(({ packets }) => packets.map(({ timeMs }) => timeMs))
  const startMs = times.reduce((a, b) => Math.min(a, b), Infinity)
  const configs = streams.flatMap(({ kind, extradata }) => {
    if (extradata.length === 0) return []
    return kind === 'video'
      ? [videoConfigTag(forms.video, 0, extradata)]
      : [audioConfigTag(forms.audio, 0, extradata)]
  })
  const tags = streams.flatMap(({ kind, packets }) =>
    packets.map((packet) => {
      const timeMs = packet.timeMs - startMs
      return kind === 'video'
        ? frameTag(forms.video, { ...packet, timeMs })
        : audioTag(forms.audio, timeMs, packet.data)
    }),
  )
  return [...configs, ...tags.toSorted((a, b) => a.timeMs - b.timeMs)]
}

function join(...chunks: Uint8Array[]): Uint8Array {
  return Buffer.concat(chunks)
}

function latin1(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}
