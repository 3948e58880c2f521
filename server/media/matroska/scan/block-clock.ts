// Times of blocks. Audio packets are timed by counting samples, as long as the coarser clock of the
// container agrees.
import { describedFrameAt } from '../../codec/audio-codecs.ts'
import type { AudioCodec } from '../../codec/audio-codecs.ts'
import { flacFrameSamples, opusPacketSamples } from '../../codec/audio-frame.ts'
import { HEAD_BYTES } from '../elements/walk-visitor.ts'
import type { WalkedBlock } from '../elements/walk-visitor.ts'
import { CLOCK_RATE, type AudioStreamInfo } from '../matroska-source.ts'

/** Converts ticks of a segment to ticks of CLOCK_RATE. */
export function clockTicks(ticks: number, nsPerTick: number): number {
  return Math.round(ticks * ((nsPerTick * CLOCK_RATE) / 1e9))
}

/** A block's time in ticks of the audio, on the section's clock. */
export function audioTicks(stream: AudioStreamInfo, ticks: number, nsPerTick: number): number {
  return Math.round((ticks * (nsPerTick / 1e9) - stream.delaySeconds) * stream.timescale)
}

/**
 * The expected start of a packet if the container's time agrees within one tick of its clock (which
 * is rounded or truncated); else the container's time. `expected` is NaN if unknown.
 */
export function snapToExpected(
  stream: AudioStreamInfo,
  expected: number,
  { ticks, nsPerTick }: { ticks: number; nsPerTick: number },
): number {
  const own = audioTicks(stream, ticks, nsPerTick)
  const step = Math.ceil((nsPerTick / 1e9) * stream.timescale)
  return Math.abs(expected - own) <= step ? expected : own
}

/** What a visitor needs of the frames of a track for `frameDuration`. */
export function frameInterest({ frame }: AudioStreamInfo): 'frames' | 'head' {
  return frame.kind === 'opus' || frame.kind === 'described' ? 'head' : 'frames'
}

/** Samples in a frame of this size; NaN if only the container's times determine it. */
export function frameDuration(
  stream: AudioStreamInfo,
  block: WalkedBlock,
  sizeBytes: number,
): number {
  const { frame } = stream
  switch (frame.kind) {
    case 'fixed':
      return frame.ticks
    case 'opus':
      return opusSamples(frameHead(stream, block)) || NaN
    case 'described':
      return describedSamples(stream, frame.codec, frameHead(stream, block))
    case 'pcm':
      return frame.sampleBytes > 0 ? Math.floor(sizeBytes / frame.sampleBytes) : NaN
    case 'unknown':
      return NaN
  }
}

/** The first bytes of the first frame, with those that header stripping removed. */
function frameHead({ prefix }: AudioStreamInfo, { payload }: WalkedBlock): Uint8Array {
  const head = payload ?? new Uint8Array(0)
  return prefix === undefined ? head : Buffer.concat([prefix.subarray(0, HEAD_BYTES), head])
}

function opusSamples([first = 0, second = 0]: Uint8Array): number {
  return opusPacketSamples(first, second)
}

function describedSamples(
  { timescale }: AudioStreamInfo,
  codec: AudioCodec,
  head: Uint8Array,
): number {
  if (codec === 'flac') return flacFrameSamples(head) ?? NaN
  const frame = describedFrameAt(codec, head, 0)
  return frame === undefined ? NaN : Math.round((frame.samples * timescale) / frame.sampleRate)
}
