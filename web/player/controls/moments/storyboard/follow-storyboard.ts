// Loads a storyboard, and again when its session has grown.
import type { Playback } from '../../../playback/playback.ts'
import { parseStoryboard } from './parse-storyboard.ts'
import type { StoryboardFrame } from './parse-storyboard.ts'

interface FollowOptions {
  /** Absolute. */
  url: string
  playback: Playback
  /** Without frames if there is no storyboard, or if it cannot be loaded. */
  onFrames(this: void, frames: readonly StoryboardFrame[]): void
}

const TIMEOUT_MS = 30_000
/** The pause between two requests. */
const RELOAD_MS = 15_000
/** A shorter part of a session needs no frame. */
const GROWN_SECONDS = 2

/** Returns the undo. */
export function followStoryboard({ url, playback, onFrames }: FollowOptions): () => void {
  const left = new AbortController()
  const { signal } = left
  let hasFrames = false
  let isPausing = true
  let timer: ReturnType<typeof setTimeout> | undefined
  /** What the storyboard covers, or covered none of at the last request. */
  let coveredSeconds = 0

  async function load(): Promise<void> {
    isPausing = true
    const { durationSeconds = 0 } = playback.read()
    const frames = await fetchFrames(url, signal).catch(() => [])
    if (signal.aborted) return
    coveredSeconds = Math.max(frames.at(-1)?.endSeconds ?? 0, durationSeconds)
    // A failed request does not remove frames.
    if (frames.length > 0 || !hasFrames) onFrames(frames)
    hasFrames ||= frames.length > 0
    timer = setTimeout(endPause, RELOAD_MS)
  }

  function endPause(): void {
    isPausing = false
    reloadIfGrown()
  }

  function reloadIfGrown(): void {
    const { durationSeconds = 0 } = playback.read()
    if (!isPausing && durationSeconds - coveredSeconds >= GROWN_SECONDS) void load()
  }

  const stop = playback.subscribe(reloadIfGrown)
  void load()
  return () => {
    stop()
    clearTimeout(timer)
    left.abort()
  }
}

/** None if there is no storyboard. `url` is absolute. */
export async function fetchFrames(url: string, signal: AbortSignal): Promise<StoryboardFrame[]> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { signal: AbortSignal.any([signal, timeout]) })
  return response.ok ? parseStoryboard(await response.text(), response.url || url) : []
}
