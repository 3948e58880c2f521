// Edit lists (ISO/IEC 14496-12 8.6.6): parsed, and folded into one shift of a track's presentation times.
import { brokenBox, type Box, int64, uint64 } from './box.ts'
import { MAX_EDITS } from '../mp4-limits.ts'

/** One edit. `mediaTicks` is -1 for an empty edit: nothing is shown for that long. */
export interface Edit {
  /** How long the edit is shown, in ticks of the movie's timescale. */
  movieTicks: number
  /** Where in the media it starts, in ticks of the track's timescale. */
  mediaTicks: number
  /** False where the picture stands still for the edit's length (rate 0). */
  isMoving: boolean
}

/** What a shift is made of. All clocks in ticks per second. */
export interface EditClocks {
  movieTimescale: number
  trackTimescale: number
  /** Length of the track's media in its ticks: an edit that starts behind it shows nothing. */
  mediaEndTicks: number
}

/** Longest content of an `elst` box that is looked at. */
export const MAX_EDIT_LIST_BYTES = 8 + 20 * MAX_EDITS

/** Parses the content of an `elst` box (version 0 and 1); at most MAX_EDITS edits. */
export function parseEditList(bytes: DataView, box: Box): Edit[] {
  if (bytes.byteLength < 8) throw brokenBox(box.type, box.start, 'is too small')
  const isLong = bytes.getUint8(0) === 1
  const entryBytes = isLong ? 20 : 12
  const count = Math.min(bytes.getUint32(4), MAX_EDITS)
  if (8 + count * entryBytes > bytes.byteLength) {
    throw brokenBox(box.type, box.start, `is too small for its ${count} entries`)
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
    throw brokenBox(box.type, box.start, 'has impossible times')
  }
  return edits
}

/**
 * The shift that an edit list puts on a track, in seconds: presentation time in the movie = presentation time in the
 * media + shift. Empty and standing edits in front delay the track; the first edit that shows media says which media
 * time comes then. What follows is not looked at: media is played on from there, nothing is repeated or left out.
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
