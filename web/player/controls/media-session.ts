// Titles and buttons of the operating system's media controls: lock screen, headset, keyboard.
import type { Playback } from '../playback/playback.ts'
import { play, seekTo } from './commands.ts'

interface MediaSessionOptions {
  title: string
  artist: string
  artworkUrl: string
  /** Undefined if there is no such session. */
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
}

const SEEK_SECONDS = 10
/** Systems count on from the last position, so that only jumps are reported. */
const JUMP_SECONDS = 2

/** Registers the session with the system, if the browser can. Returns the undo. */
export function openMediaSession(playback: Playback, options: MediaSessionOptions): () => void {
  if (!('mediaSession' in navigator)) return () => undefined
  const { mediaSession } = navigator
  mediaSession.metadata = new MediaMetadata({
    title: options.title,
    artist: options.artist,
    artwork: [{ src: new URL(options.artworkUrl, location.href).href }],
  })
  const handlers = handlersOf(playback, options)
  for (const [action, handler] of handlers) setHandler(action, handler ?? null)
  const stop = reportPosition(playback, mediaSession)
  return () => {
    stop()
    for (const [action] of handlers) setHandler(action, null)
    mediaSession.metadata = null
    mediaSession.playbackState = 'none'
    mediaSession.setPositionState()
  }
}

type Handlers = [MediaSessionAction, MediaSessionActionHandler | undefined][]

function handlersOf(playback: Playback, options: MediaSessionOptions): Handlers {
  const { video } = playback
  const seekBy = (seconds: number) => seekTo(playback, video.currentTime + seconds)
  return [
    ['play', () => play(video)],
    ['pause', () => video.pause()],
    ['seekbackward', ({ seekOffset }) => seekBy(-(seekOffset ?? SEEK_SECONDS))],
    ['seekforward', ({ seekOffset }) => seekBy(seekOffset ?? SEEK_SECONDS)],
    ['seekto', ({ seekTime }) => seekTime !== undefined && seekTo(playback, seekTime)],
    ['previoustrack', options.onPrevious],
    ['nexttrack', options.onNext],
  ]
}

function setHandler(action: MediaSessionAction, handler: MediaSessionActionHandler | null): void {
  try {
    navigator.mediaSession.setActionHandler(action, handler)
  } catch {
    // The browser has no such action.
  }
}

function reportPosition({ read, subscribe }: Playback, mediaSession: MediaSession): () => void {
  let reported = { atMs: 0, position: 0, duration: 0, playbackRate: 1 }
  const report = () => {
    const { positionSeconds, durationSeconds: duration, rate, isPaused } = read()
    mediaSession.playbackState = isPaused ? 'paused' : 'playing'
    if (!duration) return
    const atMs = performance.now()
    const position = Math.min(positionSeconds, duration)
    const expected =
      reported.position + (isPaused ? 0 : ((atMs - reported.atMs) / 1000) * reported.playbackRate)
    const hasJumped = Math.abs(position - expected) > JUMP_SECONDS
    if (!hasJumped && duration === reported.duration && rate === reported.playbackRate) return
    reported = { atMs, position, duration, playbackRate: rate }
    mediaSession.setPositionState({ duration, position, playbackRate: rate })
  }
  const stop = subscribe(report)
  report()
  return stop
}
