// Aligns the tracks of a file on the session timeline: applies edit lists, drops nothing, makes no
// time negative.
import { type Edit, foldEdits } from '../boxes/edit-list.ts'
import { MAX_SESSION_SECONDS } from '../../timeline/timeline-rules.ts'
import type { TimeExtent } from '../sample-tables/time-walk.ts'
import { UnplayableError } from '../../../base/errors.ts'

/** Minimum output timescale, so that rounding a shift costs less than a tenth of a millisecond. */
export const MIN_TIMESCALE = 8000

/** A track's clock, before the times of its samples are read. */
export interface TrackClock {
  fileTimescale: number
  /** Output ticks per tick of the file. */
  tickScale: number
  /** Ticks per second of the output. */
  timescale: number
  /** Shift of presentation times by the edit list, in output ticks. */
  editTicks: number
}

export interface ClockSource {
  fileTimescale: number
  movieTimescale: number
  edits: readonly Edit[]
  /** Sum and maximum of the sample durations, in ticks of the file. */
  totalTicks: number
  largestDuration: number
}

/** Shifts of one track in output ticks; see Mp4Track. */
export interface TrackShift {
  /** Session time = presentation time in the file (output ticks) + this. */
  presentationShiftTicks: number
  decodeShiftTicks: number
  compositionShiftTicks: number
}

/** Creates a track's clock. Throws `unplayable` for implausible times. */
export function createClock(source: ClockSource): TrackClock {
  const { fileTimescale, totalTicks, largestDuration } = source
  const tickScale = Math.ceil(MIN_TIMESCALE / fileTimescale)
  const timescale = fileTimescale * tickScale
  const shiftSeconds = foldEdits(source.edits, {
    movieTimescale: source.movieTimescale,
    trackTimescale: fileTimescale,
    mediaEndTicks: totalTicks,
  })
  const seconds = totalTicks / fileTimescale + Math.abs(shiftSeconds)
  const ticks = seconds * timescale
  const isPlausible = seconds <= MAX_SESSION_SECONDS && ticks <= Number.MAX_SAFE_INTEGER / 4
  if (!isPlausible || largestDuration * tickScale >= 2 ** 32) throw implausibleTimes()
  return { fileTimescale, tickScale, timescale, editTicks: Math.round(shiftSeconds * timescale) }
}

/**
 * Shifts all tracks by the same time, so that the earliest presentation time becomes 0. Decode
 * times also move back until no composition offset is negative, because FFmpeg, and players based
 * on it, present fragments with negative offsets too late; `raiseDecodeTimes` later fixes negative
 * decode times. `startSeconds` is the session start on the movie timeline.
 */
export function alignTracks(tracks: readonly { clock: TrackClock; extent: TimeExtent }[]): {
  shifts: TrackShift[]
  startSeconds: number
} {
  const earliest = (clock: TrackClock, extent: TimeExtent) =>
    extent.earliestTicks * clock.tickScale + clock.editTicks
  const startSeconds = Math.min(
    ...tracks.map(({ clock, extent }) => earliest(clock, extent) / clock.timescale),
  )
  const shifts = tracks.map(({ clock, extent }) => {
    const shift = clock.editTicks + Math.round(-startSeconds * clock.timescale)
    const lead = -extent.lowestOffset * clock.tickScale
    if (extent.largestOffset * clock.tickScale + lead >= 2 ** 31) throw implausibleTimes()
    return {
      presentationShiftTicks: shift,
      decodeShiftTicks: shift - lead,
      compositionShiftTicks: lead,
    }
  })
  return { shifts, startSeconds }
}

function implausibleTimes(): UnplayableError {
  return new UnplayableError({ code: 'timestamps-invalid' })
}
