// Playback near the live edge of a growing session.
import type { Playback } from '../playback/playback.ts'
import type { PlaybackState } from '../playback/playback-state.ts'
import { setRate } from './commands.ts'

/** A visitor this close to the live edge watches live. */
export const LIVE_SECONDS = 20
/** At a higher speed, playback would stop there every few seconds. */
const EDGE_SECONDS = 3

/** Returns to normal speed at the live edge. Returns the undo. */
export function slowDownAtEdge(playback: Playback): () => void {
  return playback.subscribe(() => {
    const state = playback.read()
    const distanceSeconds = secondsToEdge(state)
    if (distanceSeconds === undefined || distanceSeconds > EDGE_SECONDS) return
    if (state.rate > 1) setRate(playback.video, 1)
  })
}

/** The distance to the live edge in seconds; undefined if the session is finished. */
export function secondsToEdge(state: PlaybackState): number | undefined {
  const { liveEdgeSeconds, positionSeconds } = state
  return liveEdgeSeconds === undefined ? undefined : Math.max(liveEdgeSeconds - positionSeconds, 0)
}
