// Reads and writes bits and Exp-Golomb codes (ISO/IEC 14496-10 7.2, 9.1), and escapes NAL units
// (7.4.1).

/** Reads bits of a raw byte sequence payload, most significant first. */
export class BitReader {
  readonly #bytes: Uint8Array
  /** Position of the next bit. */
  position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  bits(count: number): number {
    let value = 0
    for (let read = 0; read < count; read++) {
      const byte = this.#bytes[this.position >> 3] ?? 0
      value = value * 2 + ((byte >> (7 - (this.position & 7))) & 1)
      this.position++
    }
    return value
  }

  /** Unsigned Exp-Golomb code, ue(v). */
  unsigned(): number {
    let zeros = 0
    while (zeros < 32 && this.bits(1) === 0) zeros++
    return 2 ** zeros - 1 + this.bits(zeros)
  }

  /** Signed Exp-Golomb code, se(v). */
  signed(): number {
    const code = this.unsigned()
    return code % 2 === 1 ? (code + 1) / 2 : 0 - code / 2
  }
}

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

/** The payload of a NAL unit after its one-byte header, without emulation prevention bytes. */
export function unescapePayload(nal: Uint8Array): Uint8Array {
  const payload = new Uint8Array(nal.length)
  let length = 0
  let zeros = 0
  for (const byte of nal.subarray(1)) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? zeros + 1 : 0
    payload[length++] = byte
  }
  return payload.subarray(0, length)
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

/** The NAL units of an Annex B byte stream, without start codes. */
export function splitNals(stream: Uint8Array): Uint8Array[] {
  const starts: number[] = []
  for (let at = 0; at + 3 <= stream.length; at++) {
    if (stream[at] === 0 && stream[at + 1] === 0 && stream[at + 2] === 1) starts.push((at += 2) + 1)
  }
  return starts.map((start, index) => {
    let end = (starts[index + 1] ?? stream.length + 3) - 3
    // A four-byte start code leaves its first zero in the previous unit.
    while (end > start && stream[end - 1] === 0) end--
    return stream.subarray(start, end)
  })
}
