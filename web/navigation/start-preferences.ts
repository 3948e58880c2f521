// The part of the preferences that the entry of the page needs: for lists, and to start playback.
import { openStorage } from './open-storage.ts'

export interface StartPreferences {
  /** 0 to 1. */
  volume: number
  /** `trackKey`; empty until an audio is chosen. */
  audio: string
  /** Id of a quality; empty for the original. */
  quality: string
  /** Whether single keys are shortcuts. */
  hasShortcuts: boolean
}

export const STORAGE_KEY = 'aftercast.player'

/** The remembered values; defaults for those that are missing or invalid. `open` may throw. */
export function readStartPreferences(open: () => Storage = openStorage): StartPreferences {
  const { volume, audio, quality, hasShortcuts } = readSaved(open)
  return {
    volume: withinOr1(volume, 0, 1),
    audio: keyOrNone(audio),
    quality: keyOrNone(quality),
    hasShortcuts: hasShortcuts !== false,
  }
}

/** What is stored, unchecked. */
export function readSaved(open: () => Storage): Readonly<Record<string, unknown>> {
  try {
    const saved: unknown = JSON.parse(open().getItem(STORAGE_KEY) ?? '{}')
    return Object.assign({}, saved)
  } catch {
    return {}
  }
}

/** The value if it is a number in the range, else 1. */
export function withinOr1(value: unknown, min: number, max: number): number {
  return typeof value === 'number' && value >= min && value <= max ? value : 1
}

/** The value if it is a `trackKey` or an id, else an empty string. */
export function keyOrNone(value: unknown): string {
  return typeof value === 'string' && /^[a-z\d-]{1,35}(\.\d{1,3})?$/i.test(value) ? value : ''
}
