// How a view is brought to the position of the session that it follows. Pure.

/** What a view does next. */
export type Alignment = { seekTo: number } | { rate: number }

interface ViewState {
  seconds: number
  /** Where it should be. */
  targetSeconds: number
  isPlaying: boolean
  /** Of the session that it follows. */
  rate: number
  isHeard: boolean
  /** How long its last seek took: it will be there that much later. */
  seekSeconds: number
}

/** A visitor does not notice less in moving pictures. */
const TOLERANCE_SECONDS = 0.04
/** Of the rate. */
const MAX_CORRECTION = 0.2
/** The same where the sound is heard: more would be audible. */
const MAX_HEARD_CORRECTION = 0.05
/** The whole correction from this drift on. */
const FULL_DRIFT_SECONDS = 0.2
/** Catching up would take longer than a seek. */
const SEEK_DRIFT_SECONDS = 1

/** Drift of less than a second is corrected by the rate, else by a seek. */
export function alignView(view: ViewState): Alignment {
  const { seconds, targetSeconds, isPlaying, rate, isHeard, seekSeconds } = view
  const drift = seconds - targetSeconds
  const size = Math.abs(drift)
  if (!isPlaying) return size > TOLERANCE_SECONDS ? { seekTo: targetSeconds } : { rate }
  if (size > SEEK_DRIFT_SECONDS) return { seekTo: targetSeconds + seekSeconds * rate }
  if (size <= TOLERANCE_SECONDS) return { rate }
  const limit = isHeard ? MAX_HEARD_CORRECTION : MAX_CORRECTION
  const share = Math.min(size / FULL_DRIFT_SECONDS, 1) * limit
  return { rate: rate * (1 - Math.sign(drift) * share) }
}
