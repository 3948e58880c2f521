// What a visitor chose, remembered in this browser.
import {
  keyOrNone,
  readSaved,
  readStartPreferences,
  STORAGE_KEY,
  withinOr1,
} from '../navigation/start-preferences.ts'
import type { StartPreferences } from '../navigation/start-preferences.ts'
import { openStorage } from '../navigation/open-storage.ts'

export interface Preferences extends StartPreferences {
  /** 1 is normal speed. */
  rate: number
  /** `trackKey`; empty until subtitles are chosen. */
  subtitles: string
  showsSubtitles: boolean
  /** Whether the chat is open from the start, where it is beside the video. */
  showsChat: boolean
}

/** The remembered values; defaults for those that are missing or invalid. `open` may throw. */
export function readPreferences(open: () => Storage = openStorage): Preferences {
  const { rate, subtitles, showsSubtitles, showsChat } = readSaved(open)
  return {
    ...readStartPreferences(open),
    rate: withinOr1(rate, 0.5, 2),
    subtitles: keyOrNone(subtitles),
    showsSubtitles: showsSubtitles === true,
    showsChat: showsChat === true,
  }
}

/** Remembers a change, if the browser allows it. */
export function savePreferences(
  change: Partial<Preferences>,
  open: () => Storage = openStorage,
): void {
  try {
    open().setItem(STORAGE_KEY, JSON.stringify({ ...readPreferences(open), ...change }))
  } catch {
    // Storage is full or off: the choice lasts as long as the page.
  }
}
