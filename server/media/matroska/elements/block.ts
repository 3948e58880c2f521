// Blocks of Matroska (RFC 9559 10): their head, and the sizes of laced frames.
import { parseVariable } from './ebml.ts'
import { MAX_LACE_BYTES } from '../matroska-limits.ts'

/** Head of a SimpleBlock or Block: whose it is, when, and how its frames lie. */
export interface BlockHead {
  track: number
  /** Relative to the cluster, in ticks of the segment: a signed 16-bit number. */
  relativeTicks: number
  flags: number
  headBytes: number
}

const LACING = 0x06
const XIPH = 0x02
const FIXED = 0x04
/** Set in a SimpleBlock whose frames are key frames. */
export const SIMPLE_KEY = 0x80
/** Track number, time stamp, flags. */
export const MAX_BLOCK_HEAD_BYTES = 8 + 3

/** The head at `at`; undefined where the bytes end inside of it. */
export function parseBlockHead(bytes: Uint8Array, at: number): BlockHead | undefined {
  const track = parseVariable(bytes, at)
  if (track === undefined) return undefined
  const behind = at + track.length
  const flags = bytes[behind + 2]
  if (flags === undefined) return undefined
  const unsigned = ((bytes[behind] ?? 0) << 8) | (bytes[behind + 1] ?? 0)
  const relativeTicks = (unsigned << 16) >> 16
  return { track: track.value, relativeTicks, flags, headBytes: track.length + 3 }
}

export function isLaced({ flags }: BlockHead): boolean {
  return (flags & LACING) !== 0
}

/** Sizes of laced frames, and where the first of them begins. */
export interface Lace {
  sizes: number[]
  framesAt: number
}

/** Where the content of a block lies in bytes: `at` is behind its head; `end` may lie behind the bytes. */
export interface LaceRange {
  at: number
  end: number
}

/**
 * The lace of a block (RFC 9559 10.3); `short` where the bytes end inside of it, undefined where its sizes do not fit
 * into the block.
 */
export function parseLace(
  bytes: Uint8Array,
  { flags }: BlockHead,
  { at, end }: LaceRange,
): Lace | 'short' | undefined {
  const last = bytes[at]
  if (at >= end) return undefined
  if (last === undefined) return 'short'
  const kind = flags & LACING
  if (kind === FIXED) return fixedLace(last + 1, { at: at + 1, end })
  const head = bytes.subarray(0, Math.min(end, at + MAX_LACE_BYTES, bytes.length))
  const found = kind === XIPH ? xiphSizes(head, at + 1, last) : ebmlSizes(head, at + 1, last)
  if (found === undefined) {
    const isWhole = head.length >= Math.min(end, at + MAX_LACE_BYTES)
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

/** The first size is a plain number, the others are signed distances to the one before (10.3.3). */
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
