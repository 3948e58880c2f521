// What a session's playback is doing, as one value: a pure state machine over reports of the video
// element and of the engine.

/** The server has no such session (404), hid it (410), or cannot play it (422). */
export type Refusal = 'missing' | 'gone' | 'unplayable'

/**
 * `opening`: no playlist yet. `open`: it can be played. `failed`: the engine stopped trying; what
 * is buffered still plays. `undecodable`: the browser has no decoder for it. A session that was
 * refused never plays.
 */
export type PlaybackPhase = 'opening' | 'open' | 'ended' | 'failed' | 'undecodable' | Refusal

/** An interval of the session, in seconds. */
export interface TimeSpan {
  startSeconds: number
  endSeconds: number
}

export interface PlaybackState {
  phase: PlaybackPhase
  isPaused: boolean
  /** Until the frame of the new position is there. */
  isSeeking: boolean
  /** The visitor waits: playing, but without data. */
  isStalled: boolean
  /** The last request got no response at all; the engine tries again by itself. */
  isUnreachable: boolean
  positionSeconds: number
  /** Undefined until the metadata is loaded; of a growing session, its length so far. */
  durationSeconds: number | undefined
  buffered: readonly TimeSpan[]
  /** What was played of the current source. */
  played: readonly TimeSpan[]
  /** The end of what is listed so far; undefined if the session is finished. */
  liveEdgeSeconds: number | undefined
  /** 1 is normal speed. */
  rate: number
  /** RFC 6381; of an `undecodable` session. */
  codec?: string
}

/** The video element's own facts, all read at once. */
export interface MediaSnapshot {
  hasMetadata: boolean
  hasEnded: boolean
  isPaused: boolean
  isSeeking: boolean
  isStalled: boolean
  positionSeconds: number
  /** `NaN` without metadata; `Infinity` for native HLS of a growing session. */
  durationSeconds: number
  /** The end of what can be sought to; 0 if there is none. */
  seekableEndSeconds: number
  buffered: readonly TimeSpan[]
  played: readonly TimeSpan[]
  rate: number
}

export type PlaybackEvent =
  | { type: 'media'; snapshot: MediaSnapshot }
  /** A playlist or a segment was loaded. */
  | { type: 'loaded' }
  | { type: 'refused'; refusal: Refusal }
  /** A request got no response. */
  | { type: 'unreachable' }
  | { type: 'gave up' }
  /** Another quality is loaded, which the browser may be able to play. */
  | { type: 'reopened' }
  | { type: 'undecodable'; codec: string; durationSeconds: number }
  /** Where the visitor seeks to in an `undecodable` session. */
  | { type: 'moved'; seconds: number }
  /** `edgeSeconds` is undefined for a finished session. */
  | { type: 'listed'; edgeSeconds: number | undefined }

/** Before anything was reported. */
export const initialPlayback: PlaybackState = {
  phase: 'opening',
  isPaused: true,
  isSeeking: false,
  isStalled: false,
  isUnreachable: false,
  positionSeconds: 0,
  durationSeconds: undefined,
  buffered: [],
  played: [],
  liveEdgeSeconds: undefined,
  rate: 1,
}

/** The status codes of a playlist that no retry changes, and what they mean. */
export function refusalOf(status: number | undefined): Refusal | undefined {
  if (status === 404) return 'missing'
  if (status === 410) return 'gone'
  if (status === 422) return 'unplayable'
  return undefined
}

/** Whether the session cannot be played at all. */
export function isRefusal(phase: PlaybackPhase): phase is Refusal {
  return phase === 'missing' || phase === 'gone' || phase === 'unplayable'
}

/** The next state; the same object if the event changes nothing. */
export function reducePlayback(state: PlaybackState, event: PlaybackEvent): PlaybackState {
  // The element is emptied after a refusal, which is no news.
  if (isRefusal(state.phase)) return state
  if (event.type === 'reopened') {
    return { ...initialPlayback, positionSeconds: state.positionSeconds }
  }
  if (state.phase === 'undecodable') {
    return event.type === 'moved' ? { ...state, positionSeconds: event.seconds } : state
  }
  switch (event.type) {
    case 'media':
      return withSnapshot(state, event.snapshot)
    case 'loaded':
      return withLoaded(state)
    case 'unreachable':
      return state.isUnreachable ? state : { ...state, isUnreachable: true }
    case 'refused':
      // A session that is removed while it plays continues with what is buffered.
      return state.durationSeconds === undefined ? { ...state, phase: event.refusal } : state
    case 'gave up':
      return state.phase === 'failed' ? state : { ...state, phase: 'failed' }
    case 'undecodable': {
      const { codec, durationSeconds } = event
      const idle = { isPaused: true, isSeeking: false, isStalled: false }
      return { ...state, ...idle, phase: 'undecodable', codec, durationSeconds }
    }
    case 'moved':
      return state
    case 'listed':
      return withLiveEdge(state, event.edgeSeconds)
  }
}

function withLoaded(state: PlaybackState): PlaybackState {
  const { phase, isUnreachable } = state
  const isOpened = phase === 'opening' || phase === 'failed'
  if (!isOpened && !isUnreachable) return state
  return { ...state, phase: isOpened ? 'open' : phase, isUnreachable: false }
}

function withSnapshot(state: PlaybackState, snapshot: MediaSnapshot): PlaybackState {
  const { durationSeconds, seekableEndSeconds } = snapshot
  const isEndless = durationSeconds === Infinity
  const next: PlaybackState = {
    phase: phaseAfter(state.phase, snapshot),
    isPaused: snapshot.isPaused,
    isSeeking: snapshot.isSeeking,
    isStalled: snapshot.isStalled,
    // Of native HLS, data that plays is the only sign of a response.
    isUnreachable: state.isUnreachable && snapshot.isStalled,
    positionSeconds: snapshot.positionSeconds,
    durationSeconds: snapshot.hasMetadata
      ? finiteDuration(durationSeconds, seekableEndSeconds)
      : undefined,
    buffered: reuse(state.buffered, snapshot.buffered),
    played: reuse(state.played, snapshot.played),
    liveEdgeSeconds: isEndless ? seekableEndSeconds : state.liveEdgeSeconds,
    rate: snapshot.rate,
  }
  return isEqual(state, next) ? state : next
}

function phaseAfter(phase: PlaybackPhase, snapshot: MediaSnapshot): PlaybackPhase {
  if (snapshot.hasEnded) return 'ended'
  if (phase === 'ended') return 'open'
  return phase === 'opening' && snapshot.hasMetadata ? 'open' : phase
}

function finiteDuration(durationSeconds: number, seekableEndSeconds: number): number | undefined {
  if (durationSeconds === Infinity) return seekableEndSeconds
  return Number.isFinite(durationSeconds) ? durationSeconds : undefined
}

function withLiveEdge(state: PlaybackState, edgeSeconds: number | undefined): PlaybackState {
  return state.liveEdgeSeconds === edgeSeconds ? state : { ...state, liveEdgeSeconds: edgeSeconds }
}

/** The old list if it has the same content, so that subscribers to it are not notified. */
function reuse<T extends object>(old: readonly T[], next: readonly T[]): readonly T[] {
  const isSame = old.length === next.length && old.every((item, at) => isEqual(item, next[at]))
  return isSame ? old : next
}

/** Whether all properties are identical. */
function isEqual(a: object, b: object | undefined): boolean {
  return b !== undefined && Object.entries(a).every(([key, value]) => Reflect.get(b, key) === value)
}
