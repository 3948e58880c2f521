// The chat of a session on its page, whether it is open, and the correction of its time.
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { SessionReference } from '../../../shared/paths.ts'
import { createStoredEntries } from '../../navigation/stored-entries.ts'
import type { Crowd } from '../controls/moments/crowd.ts'
import type { Playback } from '../playback/playback.ts'
import { readPreferences, savePreferences } from '../preferences.ts'
import { ChatSource } from './chat-source.ts'

/** A chat, while its page is open. */
export interface SessionChat {
  source: ChatSource
  /** Undefined until it is loaded. */
  crowd: Crowd | undefined
  /** Whether the page is wide enough for a chat beside the video. */
  isRoomBeside(this: void, video: HTMLVideoElement): boolean
  isOpen: boolean
  toggle(this: void): void
  /** Messages come later by these seconds. */
  offsetSeconds: number
  setOffset(this: void, seconds: number): void
}

interface ChatOptions {
  /** Path of its index; undefined without a chat. */
  path: string | undefined
  /** URL of the API on which it is based. */
  base: string
  playback: Playback
  session: SessionReference
}

/** Of the page, in CSS pixels: less would leave too little for the video. */
const MIN_WIDTH = 896

const offsets = createStoredEntries({
  storageKey: 'aftercast.chat',
  limit: 200,
  isValid: (values): values is [seconds: number] =>
    values.length === 1 && Number.isFinite(values[0]),
})

/** Undefined without a chat, until that is known, and if it cannot be loaded. */
export function useChat({ path, base, playback, session }: ChatOptions): SessionChat | undefined {
  const { video } = playback
  const source = useMemo(
    () =>
      path === undefined
        ? undefined
        : new ChatSource(new URL(path, new URL(base, location.href)).href),
    [path, base],
  )
  useEffect(() => source?.open(playback), [source, playback])
  const state = useSyncExternalStore(source?.subscribe ?? subscribeToNothing, () => source?.read())
  const [isOpen, setIsOpen] = useState(() => readPreferences().showsChat && isRoomBeside(video))
  const [offsetSeconds, setOffsetSeconds] = useState(() => offsets.find(session)?.[0] ?? 0)
  const crowd = useMemo(
    () => (state?.status === 'loaded' ? { ...state.value, offsetSeconds } : undefined),
    [state, offsetSeconds],
  )
  if (!source || !state || state.status === 'failed') return undefined
  return {
    source,
    crowd,
    isRoomBeside,
    isOpen,
    toggle() {
      setIsOpen(!isOpen)
      // On a phone, the next session starts without.
      if (isRoomBeside(video)) savePreferences({ showsChat: !isOpen })
    },
    offsetSeconds,
    setOffset(seconds) {
      setOffsetSeconds(seconds)
      offsets.write(session, [seconds])
    },
  }
}

function isRoomBeside(video: HTMLVideoElement): boolean {
  return (video.closest('[data-player]')?.clientWidth ?? 0) >= MIN_WIDTH
}

function subscribeToNothing(): () => void {
  return () => undefined
}
