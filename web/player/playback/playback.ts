// The playback store of one session: the state machine, fed by the video element and the engine.
import type { Playlist } from './playlist.ts'
import { initialPlayback, reducePlayback } from './playback-state.ts'
import type { MediaSnapshot, PlaybackEvent, PlaybackState, TimeSpan } from './playback-state.ts'

/** Events after which the element's facts may have changed. */
const MEDIA_EVENTS = [
  'loadedmetadata',
  'durationchange',
  'timeupdate',
  'progress',
  'play',
  'playing',
  'pause',
  'waiting',
  'seeking',
  'seeked',
  'ratechange',
  'ended',
  'emptied',
]

/** The state of one session in one element. Commands go to the element; its events come back. */
export class Playback {
  readonly video: HTMLVideoElement
  readonly playlist: Playlist
  readonly #listeners = new Set<() => void>()
  #state = initialPlayback

  /** Observes the element until the signal aborts. */
  constructor(video: HTMLVideoElement, playlist: Playlist, signal: AbortSignal) {
    this.video = video
    this.playlist = playlist
    let hasMetadata = false
    const update = ({ type }: Event) => {
      // Not `readyState`: `durationchange` comes before the seek to 0, which is on this event.
      if (type === 'loadedmetadata') hasMetadata = true
      if (type === 'emptied') hasMetadata = false
      this.report({ type: 'media', snapshot: readMedia(video, hasMetadata) })
    }
    for (const type of MEDIA_EVENTS) video.addEventListener(type, update, { signal })
    signal.addEventListener('abort', () => this.#listeners.clear())
  }

  /** The current state; the same object until it changes. */
  readonly read = (): PlaybackState => this.#state

  /** Calls back after each change. Returns the function to unsubscribe. */
  readonly subscribe = (onChange: () => void): (() => void) => {
    const listener = () => onChange()
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Takes a report of the engine. */
  readonly report = (event: PlaybackEvent): void => {
    const next = reducePlayback(this.#state, event)
    if (next === this.#state) return
    this.#state = next
    for (const listener of this.#listeners) listener()
  }
}

function readMedia(video: HTMLVideoElement, hasMetadata: boolean): MediaSnapshot {
  const hasData = video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA
  return {
    hasMetadata,
    hasEnded: hasMetadata && video.ended,
    isPaused: video.paused,
    isSeeking: video.seeking,
    isStalled: !video.paused && !video.ended && !hasData,
    positionSeconds: video.currentTime,
    durationSeconds: video.duration,
    seekableEndSeconds: readSpans(video.seekable).at(-1)?.endSeconds ?? 0,
    buffered: readSpans(video.buffered),
    played: readSpans(video.played),
    rate: video.playbackRate,
  }
}

function readSpans(ranges: TimeRanges): TimeSpan[] {
  return Array.from({ length: ranges.length }, (_, at) => ({
    startSeconds: ranges.start(at),
    endSeconds: ranges.end(at),
  }))
}
