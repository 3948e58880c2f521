// Duration of an Opus packet (RFC 6716 3.1, 3.2).

/** 120 ms, the longest packet (RFC 6716 3.2.5). */
const MAX_SAMPLES = 5760

/** Samples at 48 kHz, from the first two bytes of the packet; 0 if the packet is invalid. */
export function opusPacketSamples(first: number, second: number): number {
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2
  const samples = frames * frameSamples(first >>> 3)
  return samples <= MAX_SAMPLES ? samples : 0
}

function frameSamples(config: number): number {
  if (config < 12) return [480, 960, 1920, 2880][config & 3] ?? 0
  if (config < 16) return (config & 1) === 0 ? 480 : 960
  return 120 << (config & 3)
}
