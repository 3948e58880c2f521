// Decodes audio packets to mono or stereo samples. Runs only in the child process, because native
// code parses untrusted bytes.
import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CHANNEL_ORDER_NATIVE,
  AV_NOPTS_VALUE,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  FF_DECODER_AAC_LATM,
  FF_DECODER_AC3,
  FF_DECODER_DCA,
  FF_DECODER_EAC3,
  FF_DECODER_MP2FLOAT,
  FF_DECODER_MP3FLOAT,
  FF_DECODER_PCM_ALAW,
  FF_DECODER_PCM_MULAW,
  FF_DECODER_PCM_S16BE,
  FF_DECODER_PCM_S16LE,
  FF_DECODER_PCM_F32LE,
  FF_DECODER_PCM_S24BE,
  FF_DECODER_PCM_S24LE,
  FF_DECODER_PCM_S32LE,
  FF_DECODER_PCM_U8,
  FF_DECODER_TRUEHD,
  FF_DECODER_VORBIS,
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
import type { ChannelLayout } from 'node-av/lib'
import type { AudioFormat } from '../../media/codec/audio-codecs.ts'
import type { AudioChunk } from './align-audio.ts'
import { MAX_CHANNELS, MAX_SAMPLE_RATE } from './audio-job.ts'
import type { AudioJob } from './audio-job.ts'

/** No other decoder is ever opened. */
const DECODERS: Record<AudioFormat['codec'], FFDecoderCodec> = {
  mp2: FF_DECODER_MP2FLOAT,
  mp3: FF_DECODER_MP3FLOAT,
  ac3: FF_DECODER_AC3,
  eac3: FF_DECODER_EAC3,
  dts: FF_DECODER_DCA,
  truehd: FF_DECODER_TRUEHD,
  vorbis: FF_DECODER_VORBIS,
  aac_latm: FF_DECODER_AAC_LATM,
  pcm_s16le: FF_DECODER_PCM_S16LE,
  pcm_s16be: FF_DECODER_PCM_S16BE,
  pcm_s24le: FF_DECODER_PCM_S24LE,
  pcm_s24be: FF_DECODER_PCM_S24BE,
  pcm_s32le: FF_DECODER_PCM_S32LE,
  pcm_f32le: FF_DECODER_PCM_F32LE,
  pcm_u8: FF_DECODER_PCM_U8,
  pcm_alaw: FF_DECODER_PCM_ALAW,
  pcm_mulaw: FF_DECODER_PCM_MULAW,
}

/** Limit for all decoded samples, per channel: twenty seconds at the highest rate. */
const MAX_SAMPLES = 20 * MAX_SAMPLE_RATE
/** Frames per packet; real codecs have one. */
const MAX_FRAMES_PER_PACKET = 4096

/** FFmpeg's default layouts by number of channels, for recordings without one. */
const USUAL_LAYOUTS = [0x4n, 0x3n, 0xbn, 0x107n, 0x37n, 0x3fn, 0x70fn, 0x63fn]

/**
 * Samples of all packets, in order, down-mixed to the requested channels. A packet that cannot be
 * decoded gives as much silence as the previous packet gave samples. Throws if the decoder does not
 * open.
 */
export function decodeAudio({ format, output, packets }: AudioJob): AudioChunk[] {
  using decoder = openDecoder(format)
  using mixer = createMixer(output.channels)
  using packet = new Packet()
  packet.alloc()
  const sink = new ChunkSink()
  let at = 0
  packets.sizes.forEach((size, number) => {
    packet.data = Buffer.from(packets.bytes.subarray(at, at + size))
    // The decoder passes the packet number on as the time of the samples.
    packet.pts = BigInt(number)
    at += size
    const isDecoded = size > 0 && decoder.sendPacketSync(packet) >= 0
    packet.unref()
    const isWhole = receiveFrames(decoder, (frame) => sink.add(mixer.mix(frame), frame.pts))
    if (!isDecoded || !isWhole) sink.addSilence(number)
  })
  return sink.chunks
}

function openDecoder(format: AudioFormat): CodecContext {
  const codec = Codec.findDecoderByName(DECODERS[format.codec])
  if (codec === null) throw new Error(`no decoder for ${format.codec}`)
  const context = new CodecContext()
  context.allocContext3(codec)
  context.sampleRate = format.sampleRate
  context.channelLayout = usualLayout(format.channels) ?? AV_CHANNEL_LAYOUT_STEREO
  context.pktTimebase = new Rational(1, 1)
  context.threadCount = 1
  if (format.extradata !== undefined) context.extraData = Buffer.from(format.extradata)
  FFmpegError.throwIfError(context.open2Sync(codec, null), 'open decoder')
  return context
}

function usualLayout(channels: number): ChannelLayout | undefined {
  const mask = USUAL_LAYOUTS[channels - 1]
  return mask === undefined
    ? undefined
    : { nbChannels: channels, order: AV_CHANNEL_ORDER_NATIVE, mask }
}

/** Whether there was no error. */
function receiveFrames(decoder: CodecContext, take: (frame: Frame) => void): boolean {
  using frame = new Frame()
  frame.alloc()
  for (let count = 0; count < MAX_FRAMES_PER_PACKET; count += 1) {
    const status = decoder.receiveFrameSync(frame)
    if (status === AVERROR_EAGAIN || status === AVERROR_EOF) return true
    if (status < 0) return false
    take(frame)
    frame.unref()
  }
  return false
}

interface MixedSamples {
  channels: Float32Array[]
  sampleRate: number
}

/** Collects chunks up to the limit. */
class ChunkSink {
  readonly chunks: AudioChunk[] = []
  #samples = 0

  add(mixed: MixedSamples | undefined, pts: bigint): void {
    if (mixed === undefined) return
    const packet = pts === AV_NOPTS_VALUE ? undefined : Number(pts)
    this.#push({ ...mixed, packet })
  }

  addSilence(packet: number): void {
    const last = this.chunks.at(-1)
    if (last === undefined || last.packet === packet) return
    const channels = last.channels.map(({ length }) => new Float32Array(length))
    this.#push({ channels, sampleRate: last.sampleRate, packet })
  }

  #push(chunk: AudioChunk): void {
    this.#samples += chunk.channels[0]?.length ?? 0
    if (this.#samples > MAX_SAMPLES) throw new Error('the packets contain too much audio')
    this.chunks.push(chunk)
  }
}

/** Converts samples of any format and layout to floats of the requested channels. */
function createMixer(channels: 1 | 2) {
  const wanted = channels === 1 ? AV_CHANNEL_LAYOUT_MONO : AV_CHANNEL_LAYOUT_STEREO
  let cache: { key: string; context: SoftwareResampleContext } | undefined

  function contextFor(frame: Frame): SoftwareResampleContext | undefined {
    const { format, sampleRate, channelLayout } = frame
    const layout =
      channelLayout.order === AV_CHANNEL_ORDER_NATIVE
        ? channelLayout
        : usualLayout(channelLayout.nbChannels)
    if (layout === undefined || layout.nbChannels > MAX_CHANNELS) return undefined
    const key = `${format} ${sampleRate} ${layout.mask}`
    if (cache?.key === key) return cache.context
    cache?.context.free()
    cache = undefined
    const context = new SoftwareResampleContext()
    const status = context.allocSetOpts2(
      wanted,
      AV_SAMPLE_FMT_FLTP,
      sampleRate,
      layout,
      // An audio decoder returns only sample formats.
      format as AVSampleFormat,
      sampleRate,
    )
    if (status < 0 || context.init() < 0) {
      context.free()
      return undefined
    }
    cache = { key, context }
    return context
  }

  return {
    /** Undefined for a format that cannot be mixed. */
    mix(frame: Frame): MixedSamples | undefined {
      const { nbSamples: count, sampleRate, extendedData } = frame
      if (sampleRate < 1000 || sampleRate > MAX_SAMPLE_RATE || extendedData === null)
        return undefined
      const context = contextFor(frame)
      if (context === undefined) return undefined
      const planes = Array.from({ length: channels }, () => Buffer.alloc(count * 4))
      if (context.convertSync(planes, count, extendedData, count) < 0) return undefined
      return { channels: planes.map(asFloats), sampleRate }
    },
    [Symbol.dispose]() {
      cache?.context.free()
    },
  }
}

function asFloats(plane: Buffer): Float32Array {
  const floats = new Float32Array(plane.length / 4)
  new Uint8Array(floats.buffer).set(plane)
  // A hostile stream can decode to NaN.
  for (let at = 0; at < floats.length; at += 1) {
    if (!Number.isFinite(floats[at])) floats[at] = 0
  }
  return floats
}
