// Remembers how far the visitor has watched, and the chosen volume.
import { useEffect, useState } from 'react'
import type { SessionReference } from '../../shared/paths.ts'
import { saveWatched } from '../navigation/watch-history.ts'
import { addWatchedSpans, readWatchedSpans } from '../navigation/watched-spans.ts'
import type { Playback } from './playback/playback.ts'
import { savePreferences } from './preferences.ts'

/** Storage is written at most this often during playback. */
const SAVE_EVERY_SECONDS = 5

/**
 * Stores the position and what was played: during playback, and when the visitor pauses, seeks or
 * leaves.
 */
export function useWatchHistory(
  playback: Playback,
  { streamer, date, sessionId }: SessionReference,
) {
  useEffect(() => {
    const session = { streamer, date, sessionId }
    const left = new AbortController()
    let savedSeconds = playback.read().positionSeconds
    const save = () => {
      const { positionSeconds, durationSeconds, played, phase } = playback.read()
      if (durationSeconds === undefined || positionSeconds === savedSeconds) return
      if (phase === 'undecodable') return
      savedSeconds = positionSeconds
      saveWatched(session, { positionSeconds, durationSeconds })
      addWatchedSpans(session, played)
    }
    const stop = playback.subscribe(() => {
      const { positionSeconds } = playback.read()
      if (Math.abs(positionSeconds - savedSeconds) >= SAVE_EVERY_SECONDS) save()
    })
    const { signal } = left
    playback.video.addEventListener('pause', save, { signal })
    window.addEventListener('pagehide', save, { signal })
    document.addEventListener('visibilitychange', save, { signal })
    return () => {
      // The session may have been ended before: then its state has not changed since.
      save()
      stop()
      left.abort()
    }
  }, [playback, streamer, date, sessionId])
}

/**
 * What was watched before the current source of the element. Call `keepWatched` before it changes:
 * with it, the element drops what it has played.
 */
export function useWatchedSpans(playback: Playback, session: SessionReference) {
  const [watched, setWatched] = useState(() => readWatchedSpans(session))
  const keepWatched = (): void => {
    addWatchedSpans(session, playback.read().played)
    setWatched(readWatchedSpans(session))
  }
  return { watched, keepWatched }
}

/** Stores each change of the volume, with whatever control. */
export function useVolumeMemory({ video }: Playback): void {
  useEffect(() => {
    const save = () => savePreferences({ volume: video.volume })
    video.addEventListener('volumechange', save)
    return () => video.removeEventListener('volumechange', save)
  }, [video])
}
