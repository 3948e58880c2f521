// Keeps a view at the moment of the session that it follows.
import { play } from '../controls/commands.ts'
import type { Playback } from '../playback/playback.ts'
import { alignView } from './align-view.ts'

interface FollowOptions {
  /** The session that it follows. */
  playback: Playback
  view: HTMLVideoElement
  /** The position of the view at that of the session; undefined if nothing was recorded then. */
  find(this: void, seconds: number): number | undefined
  /** Called when this changes, and at first. */
  onRecorded(this: void, isRecorded: boolean): void
}

const UPDATE_MS = 250
/** A seek that took longer has waited for the network. */
const MAX_SEEK_SECONDS = 2

/** Plays, pauses and seeks the view with the session. Returns the undo. */
export function followSession({ playback, view, find, onRecorded }: FollowOptions): () => void {
  const { video } = playback
  const left = new AbortController()
  const { signal } = left
  let timer: ReturnType<typeof setInterval> | undefined
  let wasRecorded: boolean | undefined
  let seekingSinceMs: number | undefined
  let seekSeconds = 0

  function update(): void {
    const targetSeconds = find(video.currentTime)
    const isRecorded = targetSeconds !== undefined
    if (isRecorded !== wasRecorded) onRecorded((wasRecorded = isRecorded))
    const isPlaying = isMoving(video)
    keepTime(isPlaying)
    if (!isRecorded || !isPlaying) view.pause()
    if (!isRecorded || view.seeking || view.readyState < view.HAVE_METADATA) return
    if (isPlaying && view.paused) play(view)
    // Another seek would not be faster than the data.
    if (isPlaying && view.readyState < view.HAVE_FUTURE_DATA) return
    const next = alignView({
      seconds: view.currentTime,
      targetSeconds,
      isPlaying,
      rate: video.playbackRate,
      isHeard: !view.muted,
      seekSeconds,
    })
    if ('rate' in next) view.playbackRate = next.rate
    else {
      seekingSinceMs = performance.now()
      view.currentTime = next.seekTo
    }
  }

  function onSeeked(): void {
    if (seekingSinceMs !== undefined) {
      seekSeconds = Math.min((performance.now() - seekingSinceMs) / 1000, MAX_SEEK_SECONDS)
      seekingSinceMs = undefined
    }
    update()
  }

  /** No timer while nothing moves. */
  function keepTime(isPlaying: boolean): void {
    if (isPlaying === (timer !== undefined)) return
    clearInterval(timer)
    timer = isPlaying ? setInterval(update, UPDATE_MS) : undefined
  }

  view.addEventListener('seeked', onSeeked, { signal })
  for (const type of ['loadedmetadata', 'canplay']) view.addEventListener(type, update, { signal })
  signal.addEventListener('abort', playback.subscribe(update))
  signal.addEventListener('abort', () => clearInterval(timer))
  update()
  return () => left.abort()
}

function isMoving({ paused, ended, seeking, readyState }: HTMLVideoElement): boolean {
  const hasData = readyState >= HTMLMediaElement.HAVE_FUTURE_DATA
  return !paused && !ended && !seeking && hasData
}
