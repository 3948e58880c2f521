// Encodes audio in the codecs that recorders write, and decodes audio in one pass: the reference of
// transcoded segments.
import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CHANNEL_LAYOUT_5POINT1,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S16P,
  AVMEDIA_TYPE_AUDIO,
} from 'node-av/constants'
import type { AVSampleFormat, FFDecoderCodec } from 'node-av/constants'
import {
  Codec,
  CodecContext,
  FFmpegError,
  Frame,
  Packet,
  Rational,
  SoftwareResampleContext,
} from 'node-av/lib'
import type { AudioFormat } from '../../../server/media/codec/audio-codecs.ts'
import { eachPacket, encodeFrames, openEncoder, withDemuxer } from '../ffmpeg.ts'

/** Samples per channel, starting at time 0. */
export type Samples = Float32Array[]

/** One packet; its time is that of its first sample, in samples. */
export interface AudioPacket {
  data: Buffer
  position: number
}

export interface CodedAudio {
  format: AudioFormat
  packets: AudioPacket[]
}

type Codable = 'mp2' | 'mp3' | 'ac3' | 'eac3' | 'vorbis' | 'dts' | 'pcm_s16le' | 'pcm_alaw'

const ENCODERS: Record<Codable, { name: string; format: AVSampleFormat; bitRate?: bigint }> = {
  mp2: { name: 'mp2', format: AV_SAMPLE_FMT_S16, bitRate: 256_000n },
  mp3: { name: 'libmp3lame', format: AV_SAMPLE_FMT_FLTP, bitRate: 192_000n },
  ac3: { name: 'ac3', format: AV_SAMPLE_FMT_FLTP, bitRate: 256_000n },
  eac3: { name: 'eac3', format: AV_SAMPLE_FMT_FLTP, bitRate: 256_000n },
  vorbis: { name: 'libvorbis', format: AV_SAMPLE_FMT_FLTP, bitRate: 192_000n },
  dts: { name: 'dca', format: AV_SAMPLE_FMT_FLTP },
  pcm_s16le: { name: 'pcm_s16le', format: AV_SAMPLE_FMT_S16 },
  pcm_alaw: { name: 'pcm_alaw', format: AV_SAMPLE_FMT_S16 },
}
/** PCM has no frames. */
const PCM_FRAME_SAMPLES = 1024

/** A chord with plucked notes and a soft hiss: tones, attacks and noise. */
export function makeMusic(seconds: number, sampleRate: number): Samples {
  const count = Math.round(seconds * sampleRate)
  let seed = 1
  const noise = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return seed / 0x7fffffff - 0.5
  }
  const left = new Float32Array(count)
  const right = new Float32Array(count)
  const tone = (hertz: number, time: number) => Math.sin(2 * Math.PI * hertz * time)
  for (let at = 0; at < count; at += 1) {
    const time = at / sampleRate
    const chord = 0.12 * (tone(220, time) + tone(277.2, time) + tone(329.6, time))
    const pluck = 0.25 * Math.exp(-(time % 0.37) * 9) * tone(880, time)
    const hiss = 0.1 * Math.exp(-(time % 0.5) * 30) * noise()
    left[at] = chord + pluck + hiss
    right[at] = 0.7 * chord - 0.5 * pluck
  }
  return [left, right]
}

export function makeSine(hertz: number, seconds: number, sampleRate: number): Samples {
  const samples = Float32Array.from(
    { length: Math.round(seconds * sampleRate) },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * hertz * at) / sampleRate),
  )
  return [samples, samples]
}

/** Encodes; the first packet's time is 0. */
export function encodeAudio(codec: Codable, samples: Samples, sampleRate: number): CodedAudio {
  const { name, format, bitRate } = ENCODERS[codec]
  using context = openEncoder(name, (made, encoder) => {
    const supported = encoder.sampleFormats ?? []
    made.sampleFormat = supported.includes(format) ? format : (supported[0] ?? format)
    made.sampleRate = sampleRate
    made.channelLayout = layoutOf(samples.length)
    made.timeBase = new Rational(1, sampleRate)
    if (bitRate !== undefined) made.bitRate = bitRate
    if (codec === 'dts') made.setOption('strict', -2)
    made.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
  })
  const packets = runEncoder(context, samples)
  const start = packets[0]?.position ?? 0
  const extradata = context.extraData
  return {
    format: {
      codec,
      channels: samples.length,
      sampleRate,
      ...(extradata && { extradata: Uint8Array.from(extradata) }),
    },
    packets: packets.map(({ data, position }) => ({ data, position: position - start })),
  }
}

function runEncoder(context: CodecContext, samples: Samples): AudioPacket[] {
  const size = context.frameSize || PCM_FRAME_SAMPLES
  const count = Math.floor((samples[0]?.length ?? 0) / size)
  const frames = Array.from({ length: count }, (_, at) => {
    const planes = samples.map((plane) => plane.subarray(at * size, at * size + size))
    const frame = Frame.fromAudioBuffer(formatSamples(planes, context.sampleFormat), {
      nbSamples: size,
      format: context.sampleFormat,
      sampleRate: context.sampleRate,
      channelLayout: context.channelLayout,
    })
    frame.pts = BigInt(at * size)
    return frame
  })
  const packets: AudioPacket[] = []
  encodeFrames(context, frames, ({ data, pts }) => {
    packets.push({ data: Buffer.from(data ?? []), position: Number(pts) })
  })
  return packets
}

function layoutOf(channels: number) {
  if (channels === 1) return AV_CHANNEL_LAYOUT_MONO
  return channels === 2 ? AV_CHANNEL_LAYOUT_STEREO : AV_CHANNEL_LAYOUT_5POINT1
}

/** Floats in the sample format of an encoder. */
function formatSamples(planes: Samples, format: AVSampleFormat): Buffer {
  const isFloat = format === AV_SAMPLE_FMT_FLTP || format === AV_SAMPLE_FMT_FLT
  const isPlanar = format === AV_SAMPLE_FMT_FLTP || format === AV_SAMPLE_FMT_S16P
  const wide = !isFloat && format !== AV_SAMPLE_FMT_S16 && format !== AV_SAMPLE_FMT_S16P
  const width = isFloat || wide ? 4 : 2
  const size = planes[0]?.length ?? 0
  const bytes = Buffer.alloc(size * planes.length * width)
  planes.forEach((plane, channel) => {
    plane.forEach((value, at) => {
      const place = (isPlanar ? channel * size + at : at * planes.length + channel) * width
      if (isFloat) bytes.writeFloatLE(value, place)
      else if (wide) bytes.writeInt32LE(Math.round(value * 0x7fffff00), place)
      else bytes.writeInt16LE(Math.round(value * 32_767), place)
    })
  })
  return bytes
}

export interface DecodedAudio {
  samples: Samples
  /** Position of the first sample, in samples. */
  start: number
}

/**
 * The first audio track of a file, positions in samples of the file's clock; gaps are preserved.
 */
export async function readAudio(
  path: string,
): Promise<Omit<CodedAudio, 'format'> & { format: Omit<AudioFormat, 'codec'> }> {
  return withDemuxer(path, async (demuxer) => {
    const stream = demuxer.streams.find(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_AUDIO)
    if (stream === undefined) throw new Error(`${path} has no audio`)
    const { sampleRate, channels, extradata } = stream.codecpar
    const { num, den } = stream.timeBase
    const packets: AudioPacket[] = []
    await eachPacket(demuxer, ({ data, pts }, { index }) => {
      if (index !== stream.index) return
      const position = Math.round((Number(pts) * num * sampleRate) / den)
      packets.push({ data: Buffer.from(data ?? []), position })
    })
    const extra = extradata && { extradata: Uint8Array.from(extradata) }
    return { format: { channels, sampleRate, ...extra }, packets }
  })
}

export interface DecodeOptions {
  /** Name of FFmpeg's decoder. */
  decoder: string
  channels: 1 | 2
}

/** Decodes all packets in one pass, mixed to `channels`; gaps between frames are silence. */
export function decodeWhole(
  { format, packets }: { format: Omit<AudioFormat, 'codec'>; packets: readonly AudioPacket[] },
  { decoder: decoderName, channels }: DecodeOptions,
): DecodedAudio {
  const decoder = Codec.findDecoderByName(decoderName as FFDecoderCodec)
  if (decoder === null) throw new Error(`no decoder ${decoderName}`)
  using context = new CodecContext()
  context.allocContext3(decoder)
  context.sampleRate = format.sampleRate
  context.channelLayout = layoutOf(format.channels)
  context.pktTimebase = new Rational(1, format.sampleRate)
  if (format.extradata) context.extraData = Buffer.from(format.extradata)
  FFmpegError.throwIfError(context.open2Sync(decoder, null), decoderName)
  using packet = new Packet()
  packet.alloc()
  using frame = new Frame()
  frame.alloc()
  const frames: { position: number; planes: Samples }[] = []
  for (const { data, position } of packets) {
    packet.data = data
    packet.pts = BigInt(position)
    context.sendPacketSync(packet)
    packet.unref()
    while (context.receiveFrameSync(frame) >= 0) {
      frames.push({ position: Number(frame.pts), planes: mix(frame, channels) })
      frame.unref()
    }
  }
  const start = frames[0]?.position ?? 0
  const last = frames.at(-1)
  const length = (last?.position ?? 0) + (last?.planes[0]?.length ?? 0) - start
  const samples = Array.from({ length: channels }, () => new Float32Array(length))
  for (const { position, planes } of frames) {
    planes.forEach((plane, channel) => samples[channel]?.set(plane, position - start))
  }
  return { samples, start }
}

function mix(frame: Frame, channels: 1 | 2): Samples {
  using context = new SoftwareResampleContext()
  const { format, sampleRate, channelLayout, nbSamples: count } = frame
  context.allocSetOpts2(
    layoutOf(channels),
    AV_SAMPLE_FMT_FLTP,
    sampleRate,
    channelLayout.mask === 0n ? layoutOf(channelLayout.nbChannels) : channelLayout,
    format as AVSampleFormat,
    sampleRate,
  )
  FFmpegError.throwIfError(context.init(), 'mix')
  const planes = Array.from({ length: channels }, () => Buffer.alloc(count * 4))
  context.convertSync(planes, count, frame.extendedData, count)
  return planes.map((plane) => new Float32Array(Uint8Array.from(plane).buffer))
}
