// Writes bits and Exp-Golomb codes (ISO/IEC 14496-10 7.2, 9.1), and escapes NAL units
// (7.4.1).

/** Writes bits into a buffer of known capacity. */
export class BitWriter {
  readonly #bytes: Uint8Array
  #position = 0

  constructor(capacityBytes: number) {
    this.#bytes = new Uint8Array(capacityBytes + 1)
  }

  bits(value: number, count: number): void {
    for (let shift = count - 1; shift >= 0; shift--) {
      const bit = Math.floor(value / 2 ** shift) % 2
      const at = this.#position >> 3
      this.#bytes[at] = (this.#bytes[at] ?? 0) | (bit << (7 - (this.#position & 7)))
      this.#position++
    }
  }

  unsigned(value: number): void {
    const length = Math.floor(Math.log2(value + 1))
    this.bits(0, length)
    this.bits(value + 1, length + 1)
  }

  signed(value: number): void {
    this.unsigned(value > 0 ? 2 * value - 1 : -2 * value)
  }

  /** Copies the bits from `from` (included) to `to` (excluded) of other bytes, a byte at a time. */
  copy(source: Uint8Array, from: number, to: number): void {
    const shift = from & 7
    let read = from >> 3
    let left = to - from
    for (; left >= 8; left -= 8, read++) {
      const byte = (((source[read] ?? 0) << shift) | ((source[read + 1] ?? 0) >> (8 - shift))) & 255
      const at = this.#position >> 3
      const offset = this.#position & 7
      this.#bytes[at] = (this.#bytes[at] ?? 0) | (byte >> offset)
      this.#bytes[at + 1] = (byte << (8 - offset)) & 255
      this.#position += 8
    }
    for (let bit = to - left; bit < to; bit++) {
      this.bits(((source[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1, 1)
    }
  }

  /** Appends the stop bit (7.3.2.11) and returns the payload. */
  finish(): Uint8Array {
    this.bits(1, 1)
    return this.#bytes.subarray(0, (this.#position + 7) >> 3)
  }
}

/** A NAL unit with its start code (Annex B) from its header byte and payload. */
export function escapePayload(header: number, payload: Uint8Array): Uint8Array {
  const nal = new Uint8Array(5 + Math.ceil(payload.length * 1.5))
  nal.set([0, 0, 0, 1, header])
  let length = 5
  let zeros = 0
  for (const byte of payload) {
    if (zeros === 2 && byte <= 3) {
      nal[length++] = 3
      zeros = 0
    }
    zeros = byte === 0 ? zeros + 1 : 0
    nal[length++] = byte
  }
  return nal.subarray(0, length)
}
