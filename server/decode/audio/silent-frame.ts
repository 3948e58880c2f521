// A silent AAC frame (ISO/IEC 14496-3 4.4.2.1), for audio that is missing or cannot be decoded.

/** A single channel element with a long window and no bands (29 bits of 0), then ID_END. */
const MONO = Uint8Array.of(0, 0, 0, 0x07)
/** A channel pair element with a common window (0x21), no bands (35 bits of 0), then ID_END. */
const STEREO = Uint8Array.of(0x21, 0, 0, 0, 0, 0x1c)

export function silentFrame(channels: 1 | 2): Uint8Array {
  return channels === 1 ? MONO : STEREO
}
