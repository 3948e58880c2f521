// Goes from tag to tag through an FLV file (Adobe FLV 10.1 annex E.3), and finds the way again where bytes are damaged.
import { AppError } from '../../errors.ts'
import type { ByteWindow } from './byte-window.ts'
import { MAX_MISSES, MAX_SET_UP_BYTES } from './flv-limits.ts'
import { uint24, uint32 } from './tag-bytes.ts'

export const SOUND_TAG = 8
export const VIDEO_TAG = 9
const SCRIPT_TAG = 18

/** A whole tag. */
export interface Tag {
  position: number
  /** SOUND_TAG, VIDEO_TAG, or one that holds neither. */
  type: number
  /** Whether its body is encrypted (filter bit, E.4.1). */
  isEncrypted: boolean
  /** Milliseconds as written, 32 bits without sign. */
  timeMs: number
  /** Position of the body, and its length. */
  bodyOffset: number
  bodyBytes: number
  /** The body's first bytes, at most MAX_SET_UP_BYTES. Valid during the visit. */
  body: Uint8Array
}

export interface TagVisitor {
  /** `stop` ends the walk behind the tag. */
  tag(tag: Tag): 'stop' | undefined
  /** A file header: the first one, or that of a file that was written behind another. */
  fileHeader(position: number): void
}

/** Where the walk stands. A plain value to go on with when the file has grown. */
export interface WalkState {
  position: number
  /** Whether what lies at the position is no tag, and the next one is looked for. */
  isLost: boolean
  /** So often something looked like a tag and was none. */
  misses: number
}

export interface WalkOptions {
  visitor: TagVisitor
  /** The walk ends at the first tag at or behind this position. */
  stopAt: number
  /**
   * `open`: the file may grow; the walk stops at what cannot be judged before more is there, so that the same tags are
   * found whether a file is read at once or as it grows. `closed`: what is there is all there is.
   */
  end: 'open' | 'closed'
}

const TAG_HEADER_BYTES = 11
const TRAILER_BYTES = 4
const FILE_HEADER_BYTES = 9
/** Trailer of a tag and header of the next one. */
const JOINT_BYTES = TRAILER_BYTES + TAG_HEADER_BYTES
const ENCRYPTED = 0x20

export function startWalk(position = 0): WalkState {
  return { position, isLost: false, misses: 0 }
}

/** Visits all tags from `walk.position` on, and leaves in `walk` where to go on. */
export async function walkTags(
  window: ByteWindow,
  walk: WalkState,
  options: WalkOptions,
): Promise<void> {
  const { visitor, stopAt, end } = options
  while (walk.position < stopAt) {
    if (walk.isLost) {
      if (!(await findTag(window, walk, end))) return
      continue
    }
    const at = walk.position
    if (!window.has(at, TAG_HEADER_BYTES + MAX_SET_UP_BYTES)) {
      await window.need(at, TAG_HEADER_BYTES + MAX_SET_UP_BYTES)
    }
    const header = window.view(at, JOINT_BYTES)
    if (header.length < TAG_HEADER_BYTES) return
    if (isFileHeader(header, 0)) {
      const behind = await behindFileHeader(window, at, end)
      if (behind === undefined) return
      visitor.fileHeader(at)
      walk.position = behind
      continue
    }
    const type = (header[0] ?? 0) & ~ENCRYPTED
    const size = uint24(header, 1)
    const joint = at + TAG_HEADER_BYTES + size
    const bytes = window.has(joint, JOINT_BYTES)
      ? window.view(joint, JOINT_BYTES)
      : await window.peek(joint, JOINT_BYTES)
    const next = isKnown(type)
      ? judgeJoint({ joint, size, bytes, isBehindEnd: joint > window.limit }, end)
      : 'lost'
    if (next === 'undecided') return
    if (next === 'lost') {
      walk.isLost = true
      walk.position = at + 1
      continue
    }
    walk.position = next
    if (visitor.tag(parseTag(window, at, header)) === 'stop') return
  }
}

function parseTag(window: ByteWindow, position: number, header: Uint8Array): Tag {
  const bodyOffset = position + TAG_HEADER_BYTES
  const bodyBytes = uint24(header, 1)
  const type = header[0] ?? 0
  return {
    position,
    type: type & 0x1f,
    isEncrypted: (type & ENCRYPTED) !== 0,
    timeMs: (header[7] ?? 0) * 0x1000000 + uint24(header, 4),
    bodyOffset,
    bodyBytes,
    body: window.view(bodyOffset, Math.min(bodyBytes, MAX_SET_UP_BYTES)),
  }
}

interface Joint {
  /** Where the tag ends. */
  joint: number
  size: number
  /** What lies there. */
  bytes: Uint8Array
  isBehindEnd: boolean
}

/**
 * Where the next tag begins. A tag is believed where the size behind it (PreviousTagSize, E.3) confirms its own, or
 * where another tag follows all the same: with that size in between, wrong, or without one.
 */
function judgeJoint(
  { joint, size, bytes, isBehindEnd }: Joint,
  end: WalkOptions['end'],
): number | 'lost' | 'undecided' {
  if (isBehindEnd) return end === 'open' ? 'undecided' : 'lost'
  const behind = joint + TRAILER_BYTES
  if (bytes.length >= TRAILER_BYTES && uint32(bytes, 0) === TAG_HEADER_BYTES + size) return behind
  if (bytes.length < JOINT_BYTES) return end === 'open' ? 'undecided' : behind
  if (isPlausible(bytes, TRAILER_BYTES)) return behind
  return isPlausible(bytes, 0) ? joint : 'lost'
}

/** The body of a file begins with a trailer of no tag, which some writers leave out. */
async function behindFileHeader(
  window: ByteWindow,
  position: number,
  end: WalkOptions['end'],
): Promise<number | undefined> {
  const body = position + uint32(window.view(position, FILE_HEADER_BYTES), 5)
  const trailer = await window.peek(body, TRAILER_BYTES)
  if (trailer.length < TRAILER_BYTES) return end === 'open' ? undefined : body
  return uint32(trailer, 0) === 0 ? body + TRAILER_BYTES : body
}

/** Looks for the next place where a tag or a file surely begins. Answers whether it was found. */
async function findTag(
  window: ByteWindow,
  walk: WalkState,
  end: WalkOptions['end'],
): Promise<boolean> {
  for (;;) {
    await window.need(walk.position, JOINT_BYTES)
    const bytes = window.view(walk.position, Infinity)
    const offset = findPlausible(bytes)
    walk.position += offset
    if (bytes.length - offset < TAG_HEADER_BYTES) {
      if (walk.position + TAG_HEADER_BYTES > window.limit) return false
      continue
    }
    const proof = isFileHeader(bytes, offset)
      ? 'tag'
      : await proveTag(window, walk, uint24(bytes, offset + 1))
    if (proof === 'undecided' && end === 'open') return false
    if (proof === 'tag') {
      walk.isLost = false
      return true
    }
    walk.position += 1
  }
}

/** Offset of the first bytes that may be a tag or a file header; where there are too few left for one, that of the rest. */
function findPlausible(bytes: Uint8Array): number {
  const last = bytes.length - TAG_HEADER_BYTES
  for (let at = 0; at <= last; at += 1) {
    if (isPlausible(bytes, at)) return at
  }
  return Math.max(last + 1, 0)
}

async function proveTag(
  window: ByteWindow,
  walk: WalkState,
  size: number,
): Promise<'tag' | 'none' | 'undecided'> {
  const trailer = walk.position + TAG_HEADER_BYTES + size
  if (trailer + TRAILER_BYTES > window.limit) return 'undecided'
  const bytes = await window.peek(trailer, TRAILER_BYTES)
  if (uint32(bytes, 0) === TAG_HEADER_BYTES + size) return 'tag'
  walk.misses += 1
  if (walk.misses <= MAX_MISSES) return 'none'
  throw new AppError('unplayable', 'the recording is damaged in too many places')
}

/** A tag of a known kind in stream 0, or a file header. */
function isPlausible(bytes: Uint8Array, at: number): boolean {
  const type = (bytes[at] ?? 0) & ~ENCRYPTED
  if (isKnown(type)) return uint24(bytes, at + 8) === 0 && uint24(bytes, at + 1) > 0
  return isFileHeader(bytes, at)
}

function isKnown(type: number): boolean {
  return type === SOUND_TAG || type === VIDEO_TAG || type === SCRIPT_TAG
}

/** `FLV`, version 1, flags for sound and video alone, and the header's length (E.2). */
function isFileHeader(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === 0x46 &&
    bytes[at + 1] === 0x4c &&
    bytes[at + 2] === 0x56 &&
    bytes[at + 3] === 1 &&
    uint32(bytes, at + 5) >= FILE_HEADER_BYTES &&
    uint32(bytes, at + 5) <= MAX_SET_UP_BYTES
  )
}
