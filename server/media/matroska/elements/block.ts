// Matroska blocks (RFC 9559 10): their header, and the sizes of laced frames.
import { parseVariable } from './ebml.ts'
import { MAX_LACE_BYTES } from '../matroska-limits.ts'

/** Header of a SimpleBlock or Block. */
export interface BlockHeader {
  track: number
  /** Signed 16-bit time relative to the cluster, in ticks of the segment. */
  relativeTicks: number
  flags: number
  headerBytes: number
}

const LACING = 0x06
const XIPH = 0x02
const FIXED = 0x04
/** Flag of a SimpleBlock with key frames. */
export const SIMPLE_KEY = 0x80
/** Track number, timestamp, flags. */
export const MAX_BLOCK_HEADER_BYTES = 8 + 3

/** The header at `at`; undefined if the bytes end inside it. */
export function parseBlockHeader(bytes: Uint8Array, at: number): BlockHeader | undefined {
  const track = parseVariable(bytes, at)
  if (track === undefined) return undefined
  const next = at + track.length
  const flags = bytes[next + 2]
  if (flags === undefined) return undefined
  const unsigned = ((bytes[next] ?? 0) << 8) | (bytes[next + 1] ?? 0)
  const relativeTicks = (unsigned << 16) >> 16
  return { track: track.value, relativeTicks, flags, headerBytes: track.length + 3 }
}

export function isLaced({ flags }: BlockHeader): boolean {
  return (flags & LACING) !== 0
}

/** Sizes of laced frames, and the position of the first one. */
export interface Lace {
  sizes: number[]
  framesAt: number
}

/** Content of a block: `at` is the first byte after the header; `end` may exceed the bytes. */
export interface LaceRange {
  at: number
  end: number
}

/**
 * The lace of a block (RFC 9559 10.3). `short`: the bytes end inside it; undefined if its sizes
 * exceed the block.
 */
export function parseLace(
  bytes: Uint8Array,
  { flags }: BlockHeader,
  { at, end }: LaceRange,
): Lace | 'short' | undefined {
  const last = bytes[at]
  if (at >= end) return undefined
  if (last === undefined) return 'short'
  const kind = flags & LACING
  if (kind === FIXED) return fixedLace(last + 1, { at: at + 1, end })
  const header = bytes.subarray(0, Math.min(end, at + MAX_LACE_BYTES, bytes.length))
  const found = kind === XIPH ? xiphSizes(header, at + 1, last) : ebmlSizes(header, at + 1, last)
  if (found === undefined) {
    const isWhole = header.length >= Math.min(end, at + MAX_LACE_BYTES)
    return isWhole ? undefined : 'short'
  }
  const rest = end - found.framesAt - found.sizes.reduce((sum, size) => sum + size, 0)
  if (rest < 0 || found.sizes.some((size) => size < 0)) return undefined
  return { sizes: [...found.sizes, rest], framesAt: found.framesAt }
}

function fixedLace(count: number, { at, end }: LaceRange): Lace | undefined {
  const size = (end - at) / count
  return Number.isInteger(size)
    ? { sizes: Array.from({ length: count }, () => size), framesAt: at }
    : undefined
}

function xiphSizes(bytes: Uint8Array, from: number, count: number): Lace | undefined {
  const sizes: number[] = []
  let at = from
  while (sizes.length < count) {
    let size = 0
    let byte: number | undefined
    do {
      byte = bytes[at]
      if (byte === undefined) return undefined
      size += byte
      at += 1
    } while (byte === 255)
    sizes.push(size)
  }
  return { sizes, framesAt: at }
}

/** The first size is unsigned; the others are signed differences to the previous one (10.3.3). */
function ebmlSizes(bytes: Uint8Array, from: number, count: number): Lace | undefined {
  const sizes: number[] = []
  let at = from
  let size = 0
  while (sizes.length < count) {
    const number = parseVariable(bytes, at)
    if (number === undefined) return undefined
    const bias = 2 ** (7 * number.length - 1) - 1
    size = sizes.length === 0 ? number.value : size + number.value - bias
    sizes.push(size)
    at += number.length
  }
  return { sizes, framesAt: at }
}
