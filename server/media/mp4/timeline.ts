// Puts the tracks of a file on the session's one timeline: edit lists applied, nothing dropped, no time negative.
import { AppError } from '../../errors.ts'
import { type Edit, foldEdits } from './edit-list.ts'
import { MAX_SESSION_SECONDS } from '../timeline/timeline-rules.ts'
import type { TimeExtent } from './time-walk.ts'

/** Served clocks are at least this fine, so that rounding a shift costs less than a tenth of a millisecond. */
export const MIN_TIMESCALE = 8000

/** A track's clock, before all of its samples are known. */
export interface TrackClock {
  /** Ticks per second in the file. */
  fileTimescale: number
  /** Served ticks in one of the file's. */
  tickScale: number
  /** Ticks per second of what is served. */
  timescale: number
  /** What the edit list adds to presentation times, in served ticks. */
  editTicks: number
}

/** What a clock is made of. */
export interface ClockSource {
  fileTimescale: number
  movieTimescale: number
  edits: readonly Edit[]
  /** Sum and largest of the durations, in the file's ticks. */
  totalTicks: number
  largestDuration: number
}

/** Shifts of one track in served ticks; see Mp4Track. */
export interface TrackShift {
  /** Session time = presentation time in the file (served ticks) + this. */
  presentationShiftTicks: number
  decodeShiftTicks: number
  compositionShiftTicks: number
}

/** Makes a track's clock. Throws `unplayable` where its times are out of all reason. */
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
  const isBelievable = seconds <= MAX_SESSION_SECONDS && ticks <= Number.MAX_SAFE_INTEGER / 4
  if (!isBelievable || largestDuration * tickScale >= 2 ** 32) throw unbelievable()
  return { fileTimescale, tickScale, timescale, editTicks: Math.round(shiftSeconds * timescale) }
}

/**
 * Shifts for tracks that are shown together. The earliest presentation of any becomes 0, and all move by that same
 * time. Decode times move so far that no picture is shown before it is decoded: FFmpeg, and what is built on it, shows
 * fragments with negative composition offsets too late. What is negative of them then is lifted where it is served.
 * `startSeconds` is the session's start on the movie's own timeline.
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
    if (extent.largestOffset * clock.tickScale + lead >= 2 ** 31) throw unbelievable()
    return {
      presentationShiftTicks: shift,
      decodeShiftTicks: shift - lead,
      compositionShiftTicks: lead,
    }
  })
  return { shifts, startSeconds }
}

function unbelievable(): AppError {
  return new AppError('unplayable', 'the file is damaged: its times are out of all reason')
}
