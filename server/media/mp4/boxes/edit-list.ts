// Edit lists (ISO/IEC 14496-12 8.6.6), reduced to one shift of a track's presentation times.
import { type Box, int64, uint64, invalidBox } from './box.ts'
import { MAX_EDITS } from '../mp4-limits.ts'

/** One edit. `mediaTicks` is -1 for an empty edit, which delays the track. */
export interface Edit {
  /** Duration of the edit in the movie's timescale. */
  movieTicks: number
  /** Start in the media, in the track's timescale. */
  mediaTicks: number
  /** False for a still frame (rate 0). */
  isMoving: boolean
}

/** Timescales in ticks per second, and the end of the media. */
export interface EditClocks {
  movieTimescale: number
  trackTimescale: number
  /** Duration of the media in track ticks: an edit that starts after it shows nothing. */
  mediaEndTicks: number
}

/** Longest `elst` content that is read. */
export const MAX_EDIT_LIST_BYTES = 8 + 20 * MAX_EDITS

/** Parses the content of an `elst` box (version 0 or 1), at most MAX_EDITS edits. */
export function parseEditList(bytes: DataView, box: Box): Edit[] {
  if (bytes.byteLength < 8) throw invalidBox(box, 'too-small')
  const isLong = bytes.getUint8(0) === 1
  const entryBytes = isLong ? 20 : 12
  const count = Math.min(bytes.getUint32(4), MAX_EDITS)
  if (8 + count * entryBytes > bytes.byteLength) {
    throw invalidBox(box, 'entries-exceed-box', count)
  }
  const edits = Array.from({ length: count }, (_, index) => {
    const at = 8 + index * entryBytes
    return {
      movieTicks: isLong ? uint64(bytes, at) : bytes.getUint32(at),
      mediaTicks: isLong ? int64(bytes, at + 8) : bytes.getInt32(at + 4),
      isMoving: bytes.getInt16(at + entryBytes - 4) !== 0,
    }
  })
  if (edits.some((edit) => Number.isNaN(edit.movieTicks + edit.mediaTicks))) {
    throw invalidBox(box, 'times-invalid')
  }
  return edits
}

/**
 * The shift of an edit list in seconds: presentation time in the movie = presentation time in the
 * media + shift. Empty edits and still frames at the start delay the track; the first edit that
 * shows media sets the media time. Later edits are ignored: the media plays on from there, without
 * repetition or omission.
 */
export function foldEdits(edits: readonly Edit[], clocks: EditClocks): number {
  let delaySeconds = 0
  for (const { movieTicks, mediaTicks, isMoving } of edits) {
    const showsMedia = mediaTicks >= 0 && isMoving && mediaTicks < clocks.mediaEndTicks
    if (showsMedia) return delaySeconds - mediaTicks / clocks.trackTimescale
    const delays = mediaTicks === -1 || (mediaTicks >= 0 && !isMoving)
    if (delays) delaySeconds += movieTicks / clocks.movieTimescale
  }
  return delaySeconds
}
