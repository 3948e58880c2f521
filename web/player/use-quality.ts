// The quality that is played, and its choice.
import { useState } from 'react'
import { savePreferences } from './preferences.ts'
import type { Playback } from './playback/playback.ts'
import { SOUND_ONLY } from './playback/playlist.ts'

interface ChosenQuality {
  /** Id; empty for the original. */
  quality: string
  hasPicture: boolean
  /** Continues in another quality, and remembers it. */
  selectQuality(this: void, id: string): void
}

/** @param onChange called before the source changes */
export function useQuality(playback: Playback, onChange: () => void): ChosenQuality {
  const [quality, setQuality] = useState(playback.playlist.quality)

  function selectQuality(id: string): void {
    onChange()
    // The browser lacks the codec of the one before.
    const isStuck = playback.read().phase === 'undecodable'
    if (isStuck) playback.report({ type: 'reopened' })
    playback.playlist.select({ quality: id })
    if (isStuck) void playback.video.play().catch(() => undefined)
    savePreferences({ quality: id })
    setQuality(id)
  }

  return { quality, hasPicture: quality !== SOUND_ONLY, selectQuality }
}
