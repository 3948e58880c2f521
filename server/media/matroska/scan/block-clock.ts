// Times of blocks. Audio packets are timed by counting samples, as long as the coarser clock of the
// container agrees.
import { opusPacketSamples } from '../../codec/audio-frame.ts'
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

/** Samples in a frame of this size; NaN if only the container's times determine it. */
export function frameDuration(
  stream: AudioStreamInfo,
  block: WalkedBlock,
  sizeBytes: number,
): number {
  const { frame, prefix } = stream
  switch (frame.kind) {
    case 'fixed':
      return frame.ticks
    case 'opus':
      return (prefix === undefined && opusSamples(block)) || NaN
    case 'pcm':
      return frame.sampleBytes > 0 ? Math.floor(sizeBytes / frame.sampleBytes) : NaN
    case 'unknown':
      return NaN
  }
}

function opusSamples({ firstBytes }: WalkedBlock): number {
  return opusPacketSamples(firstBytes >>> 8, firstBytes & 0xff)
}
