// When frames of sound begin: by counting samples, for as long as that agrees with the container's coarser clock.
import { opusPacketSamples } from '../../codec/opus-packet.ts'
import type { WalkedBlock } from '../elements/element-walk.ts'
import type { AudioStreamInfo } from '../matroska-source.ts'

/** A block's time in ticks of the sound, on the clock of its section. */
export function audioTicks(stream: AudioStreamInfo, ticks: number, nsPerTick: number): number {
  return Math.round((ticks * (nsPerTick / 1e9) - stream.delaySeconds) * stream.timescale)
}

/**
 * Where a frame begins: where it is expected, if the container's time is no farther from there than its clock's step
 * (times are rounded or cut off to it); else when the container says. `expected` is NaN where nothing is.
 */
export function snapped(
  stream: AudioStreamInfo,
  expected: number,
  { ticks, nsPerTick }: { ticks: number; nsPerTick: number },
): number {
  const own = audioTicks(stream, ticks, nsPerTick)
  const step = Math.ceil((nsPerTick / 1e9) * stream.timescale)
  return Math.abs(expected - own) <= step ? expected : own
}

/** Samples in a block's frame of this size; NaN where only the container's times tell. */
export function frameTicks(stream: AudioStreamInfo, block: WalkedBlock, sizeBytes: number): number {
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
