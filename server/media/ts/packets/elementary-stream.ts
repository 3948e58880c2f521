// Gathers the payloads of the PES packets of one PID, and where each begins.
import { continuityCounter, hasPayload, isCorrupt, isScrambled } from './packet.ts'
import { isUnitStart, payloadEnd, payloadStart, TS_PACKET_BYTES } from './packet.ts'
import type { PacketView } from './packet.ts'
import { MAX_PES_HEADER_BYTES, parsePesHeader } from './pes.ts'

/** Where the payload of a PES packet begins in the gathered bytes. */
export interface PesUnit {
  at: number
  /** Position in the file of the transport packet in which the PES packet begins. */
  position: number
  stamps: { pts: number; dts: number } | undefined
}

const FIRST_CAPACITY_BYTES = 64 * 1024

interface StreamOptions {
  /** Further bytes are rejected. */
  limitBytes: number
  /** The expected size. */
  expectedBytes?: number
  /**
   * Whether a PES packet ends only where the next one begins. The length has 16 bits, and some
   * muxers write the low bits of the length of a large frame.
   */
  exceedsLengths?: boolean
}

/** The payloads of a PID, gathered packet by packet. */
export class ElementaryStream {
  readonly pid: number
  readonly units: PesUnit[] = []
  readonly #limitBytes: number
  readonly #exceedsLengths: boolean
  #bytes: Uint8Array<ArrayBuffer>
  #length = 0
  /** Start of the header of the current PES packet, until it is parsed. */
  #headerAt: number | undefined
  #position = 0
  /** Remaining bytes of the PES packet; undefined between packets, and after an invalid one. */
  #remaining: number | undefined
  /** End of the current PES packet in the gathered bytes by its length; Infinity without one. */
  #declaredEnd = Infinity
  #counter = -1
  /** The payload of the last packet in the gathered bytes. */
  #lastPayload = { at: 0, length: 0 }
  /** Payload of the last packet in which a PES packet began. */
  #lastStart = new Uint8Array(0)

  constructor(
    pid: number,
    { limitBytes, expectedBytes = FIRST_CAPACITY_BYTES, exceedsLengths = false }: StreamOptions,
  ) {
    this.pid = pid
    this.#limitBytes = limitBytes
    this.#exceedsLengths = exceedsLengths
    this.#bytes = new Uint8Array(Math.min(expectedBytes, limitBytes))
  }

  /** All payload so far. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#headerAt ?? this.#length)
  }

  /** Whether a PES packet is incomplete, or its end is unknown. */
  get isOpen(): boolean {
    return this.#remaining !== undefined && this.#remaining > 0
  }

  /** Whether the header of the current PES packet is incomplete. */
  get isHeaderOpen(): boolean {
    return this.#headerAt !== undefined
  }

  /** Whether a packet is the one before it, sent again (ISO/IEC 13818-1 2.4.3.3). */
  repeats(packet: PacketView): boolean {
    if (continuityCounter(packet.header) !== this.#counter) return false
    const { at, length } = this.#lastPayload
    const isStart = isUnitStart(packet.header)
    const last = isStart ? this.#lastStart : this.#bytes.subarray(at, at + length)
    return last.length > 0 && Buffer.compare(payloadOf(packet), last) === 0
  }

  /** Processes a packet of the PID. Returns `full` if it does not fit. */
  take(packet: PacketView): 'taken' | 'full' {
    if (isCorrupt(packet.header) || isScrambled(packet.header)) return 'taken'
    if (!hasPayload(packet.header)) return 'taken'
    const isRepeat = this.repeats(packet)
    this.#counter = continuityCounter(packet.header)
    if (isRepeat) return 'taken'
    if (isUnitStart(packet.header)) this.#open(packet)
    if (this.#remaining === undefined) return 'taken'
    const from = payloadStart(packet)
    const length = Math.min(payloadEnd(packet) - from, this.#remaining)
    if (this.#length + length > this.#limitBytes) return 'full'
    this.#append(packet.bytes.subarray(from, from + length))
    this.#lastPayload = { at: this.#length - length, length }
    this.#remaining -= length
    if (this.#headerAt !== undefined) this.#readHeader(this.#headerAt)
    return 'taken'
  }

  /** Ends the current PES packet; an incomplete header is dropped. */
  close(): void {
    if (this.#headerAt !== undefined) this.#length = this.#headerAt
    // Less than a packet after the end is padding of the last one.
    const excess = this.#length - this.#declaredEnd
    if (excess > 0 && excess < TS_PACKET_BYTES) this.#length = this.#declaredEnd
    this.#headerAt = undefined
    this.#remaining = undefined
    this.#declaredEnd = Infinity
  }

  #open(packet: PacketView): void {
    this.close()
    this.#lastStart = payloadOf(packet).slice()
    this.#headerAt = this.#length
    this.#position = packet.position
    this.#remaining = Infinity
  }

  #append(payload: Uint8Array): void {
    const needed = this.#length + payload.length
    if (needed > this.#bytes.length) {
      const growing = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
      growing.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = growing
    }
    this.#bytes.set(payload, this.#length)
    this.#length = needed
  }

  /** Removes the header from the gathered bytes once it is complete. */
  #readHeader(at: number): void {
    const header = parsePesHeader(
      this.#bytes.subarray(at, Math.min(this.#length, at + MAX_PES_HEADER_BYTES)),
    )
    if (header === 'short') return
    if (header === 'invalid') {
      this.close()
      return
    }
    const gathered = this.#length - at
    const declared = header.packetBytes === 0 ? Infinity : header.packetBytes
    const whole = this.#exceedsLengths ? Infinity : declared
    const payloadBytes = Math.max(0, Math.min(gathered, whole) - header.headerBytes)
    this.#bytes.copyWithin(at, at + header.headerBytes, at + header.headerBytes + payloadBytes)
    this.#length = at + payloadBytes
    this.#headerAt = undefined
    this.#remaining = Math.max(0, whole - gathered)
    if (this.#exceedsLengths) {
      this.#declaredEnd = at + Math.max(0, declared - header.headerBytes)
    }
    this.#lastPayload = { at: this.#length, length: 0 }
    this.units.push({ at, position: this.#position, stamps: header.stamps })
  }
}

function payloadOf(packet: PacketView): Uint8Array {
  return packet.bytes.subarray(payloadStart(packet), payloadEnd(packet))
}
