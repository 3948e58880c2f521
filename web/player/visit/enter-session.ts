// From the visit of a session to its playback: the pre-roll, the linked moment, and autoplay.
import type { ConfigResponse } from '../../../shared/contract.ts'
import { findPreroll, openPreroll } from '../../ads/open-preroll.ts'
import type { Resource } from '../../api/resource.ts'
import { createAutoplay } from './autoplay.ts'
import type { AutoplayAudio } from './autoplay.ts'
import type { LinkedRange } from './linked-range.ts'
import type { Playback } from '../playback/playback.ts'
import { isRefusal } from '../playback/playback-state.ts'

interface EntryOptions {
  playback: Playback
  /** Contains the video and receives the overlay. */
  stage: HTMLElement
  /** Whether there is a pre-roll; undefined if there is none. */
  config: Resource<ConfigResponse> | undefined
  range: LinkedRange
  onAudio(this: void, audio: AutoplayAudio): void
}

/** A new recording has no playlist for some seconds, which the pre-roll can fill. */
const OPENING_TIMEOUT_MS = 1500

/** Starts playback once the pre-roll is over. A refused session gets neither. Returns the undo. */
export function enterSession(options: EntryOptions): () => void {
  const { playback, stage, config, range, onAudio } = options
  const { video } = playback
  const left = new AbortController()
  const { signal } = left
  const autoplay = createAutoplay(video, onAudio)

  const opened = sessionOpened(playback, signal)
  const start = () => {
    if (signal.aborted) return
    if (range.startSeconds) seekWhenKnown(playback, range.startSeconds, signal)
    autoplay.release()
  }
  const onOver = () => void opened.then(start)
  if (config) {
    const closePreroll = openPreroll({ config, stage, covered: video, opened, onOver })
    signal.addEventListener('abort', closePreroll)
  } else onOver()
  if (range.endSeconds !== undefined) pauseOnce(playback, range.endSeconds)
  signal.addEventListener('abort', autoplay.dispose)
  // An ad before a video that does not play would be in vain.
  playback.subscribe(() => playback.read().phase === 'undecodable' && left.abort())
  return () => left.abort()
}

/**
 * Resolves when there is a playlist, or when the server has none for too long; never for a refused
 * session.
 */
function sessionOpened(playback: Playback, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, OPENING_TIMEOUT_MS)
    const stop = playback.subscribe(() => playback.read().phase !== 'opening' && finish())
    signal.addEventListener('abort', end)
    // A preloaded session has one already.
    if (playback.read().phase !== 'opening') finish()

    function finish(): void {
      end()
      if (!isRefusal(playback.read().phase)) resolve()
    }

    function end(): void {
      clearTimeout(timer)
      stop()
    }
  })
}

/**
 * Where loading begins: at the linked moment, unless there is a pre-roll, during which the video is
 * at 0. After it, `enterSession` seeks.
 */
export async function loadStart(
  config: Resource<ConfigResponse> | undefined,
  { startSeconds = 0 }: LinkedRange,
  signal: AbortSignal,
): Promise<number> {
  if (startSeconds === 0 || !config) return startSeconds
  const vastUrl = await findPreroll(config, signal).catch(() => undefined)
  return vastUrl === undefined ? startSeconds : 0
}

/** Seeks once the duration is known, unless the moment is after the end. */
function seekWhenKnown(playback: Playback, seconds: number, signal: AbortSignal): void {
  const stop = playback.subscribe(seek)
  signal.addEventListener('abort', stop)
  seek()

  function seek(): void {
    const { durationSeconds } = playback.read()
    if (durationSeconds === undefined) return
    stop()
    if (seconds < durationSeconds) playback.video.currentTime = seconds
  }
}

/** Pauses when playback, in whatever quality, reaches the moment for the first time; not a seek. */
function pauseOnce(playback: Playback, seconds: number): void {
  const { video } = playback
  let lastSeconds = 0
  const stop = playback.subscribe(() => {
    const { positionSeconds } = playback.read()
    const isReached = lastSeconds < seconds && positionSeconds >= seconds && !video.seeking
    lastSeconds = positionSeconds
    if (!isReached) return
    stop()
    video.pause()
    // The position is reported only four times a second.
    video.currentTime = seconds
  })
}
