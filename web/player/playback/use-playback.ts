// Subscribes a component to a part of the playback state.
import { useSyncExternalStore } from 'react'
import type { Playback } from './playback.ts'
import { initialPlayback } from './playback-state.ts'
import type { PlaybackState } from './playback-state.ts'

/**
 * The selected part, which must be a primitive or the same object until it changes: the component
 * renders only then. Without a playback, the part of the initial state.
 */
export function usePlayback<T>(
  playback: Playback | undefined,
  select: (state: PlaybackState) => T,
): T {
  return useSyncExternalStore(playback?.subscribe ?? subscribeToNothing, () =>
    select(playback?.read() ?? initialPlayback),
  )
}

function subscribeToNothing(): () => void {
  return () => undefined
}
