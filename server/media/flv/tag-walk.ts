// Walks the tags of an FLV file (Adobe FLV 10.1 annex E.3), and resynchronises after corrupt bytes.
import { checkLimit } from '../../base/errors.ts'
import type { ReadWindow } from '../../storage/recordings/read-window.ts'
import { MAX_MISSES, MAX_CONFIG_BYTES } from './flv-limits.ts'
import { uint24, uint32 } from './tag-bytes.ts'

export const AUDIO_TAG = 8
export const VIDEO_TAG = 9
const SCRIPT_TAG = 18

/** A whole tag. */
export interface Tag {
  position: number
  /** SOUND_TAG, VIDEO_TAG, or another type. */
  type: number
  /** Whether its body is encrypted (filter bit, E.4.1). */
  isEncrypted: boolean
  /** The timestamp in milliseconds, 32 bits unsigned. */
  timeMs: number
  /** Position and size of the body. */
  bodyOffset: number
  bodyBytes: number
  /** The first bytes of the body, at most MAX_CONFIG_BYTES. Valid during the visit. */
  body: Uint8Array
}

export interface TagVisitor {
  /** `stop` ends the walk after the tag. */
  tag(tag: Tag): 'stop' | undefined
  /** A file header: the first one, or that of an appended file. */
  fileHeader(position: number): void
  /** Bytes that are not tags. */
  skipped(from: number, to: number): void
}

/** The position of a walk. A plain value to continue with when the file grows. */
export interface WalkState {
  position: number
  /** Start of bytes that are not a tag, during a search for the next tag. */
  lostFrom: number | undefined
  /** How often bytes looked like a tag but were not. */
  misses: number
}

export interface WalkOptions {
  visitor: TagVisitor
  /** The walk ends at the first tag at or after this position. */
  stopAt: number
  /**
   * `open`: the file may grow. The walk stops where it needs more bytes to decide, so that it finds
   * the same tags at once or in parts. `closed`: the file is complete.
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
  return { position, lostFrom: undefined, misses: 0 }
}

/** Visits all tags from `walk.position` on, and updates `walk`. */
export async function walkTags(
  window: ReadWindow,
  walk: WalkState,
  options: WalkOptions,
): Promise<void> {
  const { visitor, stopAt, end } = options
  while (walk.position < stopAt) {
    if (walk.lostFrom !== undefined) {
      if (!(await findTag(window, walk, end))) return
      visitor.skipped(walk.lostFrom, walk.position)
      walk.lostFrom = undefined
    }
    const at = walk.position
    if (!window.has(at, TAG_HEADER_BYTES + MAX_CONFIG_BYTES)) {
      await window.need(at, TAG_HEADER_BYTES + MAX_CONFIG_BYTES)
    }
    const confirmed = confirmedNext(window, at)
    if (confirmed !== undefined) {
      walk.position = confirmed
      if (visitor.tag(parseTag(window, at)) === 'stop') return
      continue
    }
    const header = window.view(at, TAG_HEADER_BYTES)
    if (header.length < TAG_HEADER_BYTES) return
    const isFile = isFileHeader(header, 0)
    const joint = at + TAG_HEADER_BYTES + uint24(header, 1)
    const verdict = isFile
      ? await behindFileHeader(window, at, end)
      : judgeJoint(header, joint, {
          // Awaits only at the end of the window, which holds thousands of tags.
          bytes: window.has(joint, JOINT_BYTES)
            ? window.view(joint, JOINT_BYTES)
            : await window.peek(joint, JOINT_BYTES),
          isBehindEnd: joint > window.limit,
          end,
        })
    const next = typeof verdict === 'object' ? await proveNext(window, verdict, options) : verdict
    if (next === 'undecided') return
    walk.position = next === 'lost' ? at + 1 : next
    if (next === 'lost') walk.lostFrom = at
    else if (isFile) visitor.fileHeader(at)
    else if (visitor.tag(parseTag(window, at)) === 'stop') return
  }
}

/**
 * As judgeJoint, for almost all tags: complete in the window, with the right size after it;
 * undefined for others.
 */
function confirmedNext(window: ReadWindow, position: number): number | undefined {
  const { bytes } = window
  const at = position - window.start
  const size = TAG_HEADER_BYTES + uint24(bytes, at + 1)
  if (!isTagType(bytes[at] ?? 0) || !window.holds(position, size + TRAILER_BYTES)) return undefined
  return uint32(bytes, at + size) === size ? position + size + TRAILER_BYTES : undefined
}

function parseTag(window: ReadWindow, position: number): Tag {
  const { bytes } = window
  const at = position - window.start
  const bodyOffset = position + TAG_HEADER_BYTES
  const bodyBytes = uint24(bytes, at + 1)
  const type = bytes[at] ?? 0
  return {
    position,
    type: type & 0x1f,
    isEncrypted: (type & ENCRYPTED) !== 0,
    timeMs: (bytes[at + 7] ?? 0) * 0x1000000 + uint24(bytes, at + 4),
    bodyOffset,
    bodyBytes,
    body: window.view(bodyOffset, Math.min(bodyBytes, MAX_CONFIG_BYTES)),
  }
}

/** The bytes after a tag. */
interface Joint {
  bytes: Uint8Array
  isBehindEnd: boolean
  end: WalkOptions['end']
}

/** The possible start of a tag after a wrong or missing size. */
interface Guess {
  guessed: number
}

/**
 * Where the next tag begins. A tag is valid if the size after it (PreviousTagSize, E.3) matches its
 * own, or if another tag follows: after a wrong size, or without one.
 */
function judgeJoint(
  header: Uint8Array,
  joint: number,
  { bytes, isBehindEnd, end }: Joint,
): number | Guess | 'lost' | 'undecided' {
  if (!isTagType(header[0] ?? 0)) return 'lost'
  if (isBehindEnd) return end === 'open' ? 'undecided' : 'lost'
  const behind = joint + TRAILER_BYTES
  const size = TAG_HEADER_BYTES + uint24(header, 1)
  if (bytes.length >= TRAILER_BYTES && uint32(bytes, 0) === size) return behind
  if (bytes.length < JOINT_BYTES) return end === 'open' ? 'undecided' : behind
  if (isPlausible(bytes, TRAILER_BYTES)) return { guessed: behind }
  return isPlausible(bytes, 0) ? { guessed: joint } : 'lost'
}

/**
 * A wrong size may lead to bytes that look like a header: it is one only if a tag or the end
 * follows it.
 */
async function proveNext(
  window: ReadWindow,
  { guessed }: Guess,
  { stopAt, end }: WalkOptions,
): Promise<number | 'lost' | 'undecided'> {
  // The end of a segment is known.
  if (guessed === stopAt) return guessed
  const header = await window.peek(guessed, TAG_HEADER_BYTES)
  if (isFileHeader(header, 0)) return guessed
  const joint = guessed + TAG_HEADER_BYTES + uint24(header, 1)
  const isBehindEnd = joint > window.limit
  const bytes = isBehindEnd ? new Uint8Array(0) : await window.peek(joint, JOINT_BYTES)
  const verdict = judgeJoint(header, joint, { bytes, isBehindEnd, end })
  return verdict === 'lost' || verdict === 'undecided' ? verdict : guessed
}

/** The body of a file begins with the trailer of no tag, which some writers omit. */
async function behindFileHeader(
  window: ReadWindow,
  position: number,
  end: WalkOptions['end'],
): Promise<number | 'undecided'> {
  const body = position + uint32(window.view(position, FILE_HEADER_BYTES), 5)
  const trailer = await window.peek(body, TRAILER_BYTES)
  if (trailer.length < TRAILER_BYTES) return end === 'open' ? 'undecided' : body
  return uint32(trailer, 0) === 0 ? body + TRAILER_BYTES : body
}

/**
 * Searches for the next position where a tag or a file surely begins. Returns whether it was found.
 */
async function findTag(
  window: ReadWindow,
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
    if (proof === 'tag') return true
    walk.position += 1
  }
}

/**
 * Offset of the first bytes that may be a tag or a file header, or of the rest if it is too short
 * for one.
 */
function findPlausible(bytes: Uint8Array): number {
  const last = bytes.length - TAG_HEADER_BYTES
  for (let at = 0; at <= last; at += 1) {
    if (isPlausible(bytes, at)) return at
  }
  return Math.max(last + 1, 0)
}

async function proveTag(
  window: ReadWindow,
  walk: WalkState,
  size: number,
): Promise<'tag' | 'none' | 'undecided'> {
  const trailer = walk.position + TAG_HEADER_BYTES + size
  if (trailer + TRAILER_BYTES > window.limit) return 'undecided'
  const bytes = await window.peek(trailer, TRAILER_BYTES)
  if (uint32(bytes, 0) === TAG_HEADER_BYTES + size) return 'tag'
  walk.misses += 1
  checkLimit('corrupt-ranges', MAX_MISSES, walk.misses)
  return 'none'
}

/** A tag of a known type in stream 0, or a file header. */
function isPlausible(bytes: Uint8Array, at: number): boolean {
  const type = (bytes[at] ?? 0) & ~ENCRYPTED
  if (isKnown(type)) return uint24(bytes, at + 8) === 0 && uint24(bytes, at + 1) > 0
  return isFileHeader(bytes, at)
}

function isKnown(type: number): boolean {
  return type === AUDIO_TAG || type === VIDEO_TAG || type === SCRIPT_TAG
}

/** Whether a tag may begin with this byte. */
export function isTagType(byte: number): boolean {
  return isKnown(byte & ~ENCRYPTED)
}

/** `FLV`, version 1, flags for audio and video alone, and the size of the header (E.2). */
function isFileHeader(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === 0x46 &&
    bytes[at + 1] === 0x4c &&
    bytes[at + 2] === 0x56 &&
    bytes[at + 3] === 1 &&
    uint32(bytes, at + 5) >= FILE_HEADER_BYTES &&
    uint32(bytes, at + 5) <= MAX_CONFIG_BYTES
  )
}
