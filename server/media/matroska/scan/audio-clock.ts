// When frames of sound begin: by counting samples, for as long as that agrees with the container's coarser clock.
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
      return prefix === undefined ? opusSamples(block.firstBytes) : NaN
    case 'pcm':
      return frame.sampleBytes > 0 ? Math.floor(sizeBytes / frame.sampleBytes) : NaN
    case 'unknown':
      return NaN
  }
}

const SILK_MS = [10, 20, 40, 60]
const HYBRID_MS = [10, 20]
const CELT_MS = [2.5, 5, 10, 20]
const MAX_OPUS_SAMPLES = 5760

/** Samples at 48 kHz in a packet of Opus, by its first two bytes (RFC 6716 3.1, 3.2). */
function opusSamples(firstBytes: number): number {
  const head = firstBytes >>> 8
  const configuration = head >>> 3
  const code = head & 3
  const ms =
    configuration < 12
      ? SILK_MS[configuration & 3]
      : configuration < 16
        ? HYBRID_MS[configuration & 1]
        : CELT_MS[configuration & 3]
  const count = code === 0 ? 1 : code === 3 ? firstBytes & 63 : 2
  const samples = (ms ?? NaN) * 48 * count
  return samples > 0 && samples <= MAX_OPUS_SAMPLES ? samples : NaN
}
