// Plays with hls.js. This file and the library are one chunk, loaded on intent.
import Hls, { ErrorDetails, ErrorTypes, Events, FetchLoader } from 'hls.js/light'
import type {
  AttachMediaSourceData,
  ErrorData,
  Fragment,
  HlsConfig,
  RetryConfig,
} from 'hls.js/light'
import { adaptBufferTarget } from './buffer-target.ts'
import { trackDecodableStart } from './decodable-start.ts'
import { ORIGINAL } from '../playback/playlist.ts'
import type { Playlist } from '../playback/playlist.ts'
import { refusalOf } from '../playback/playback-state.ts'
import type { PlaybackEvent } from '../playback/playback-state.ts'
import { measurePlayback } from './measure-playback.ts'
import { preservePlayback } from './preserve-playback.ts'
import { createRecovery } from './recovery.ts'
import type { Failure } from './recovery.ts'
import { loadWorker, removeWorkerFromStore } from 'hls.js/src/demux/inject-worker.ts'
// oxlint-disable-next-line import/default -- The query makes it a URL.
import workerUrl from './hls.worker.ts?worker&url'

/** Starts the worker, which all sessions share. */
export function prepareHls(): void {
  warmWorker(workerUrl)
}

interface HlsEngineOptions {
  signal: AbortSignal
  report(this: void, event: PlaybackEvent): void
  /** Where loading begins, unless this is after the end: then at 0. */
  startSeconds: number
  /** Use hls.js even if it reports that it is not supported. */
  force: boolean
}

/**
 * Plays until the signal aborts; the element is empty afterwards. Returns false if hls.js cannot
 * work.
 */
export function playWithHls(
  video: HTMLVideoElement,
  playlist: Playlist,
  { signal, report, startSeconds, force }: HlsEngineOptions,
): boolean {
  if (!Hls.isSupported() && !force) return false
  prepareHls()
  const playback = preservePlayback(video, signal)
  const decodableStart = trackDecodableStart(video, signal)
  const bufferTarget = adaptBufferTarget(video, signal, (next) => Object.assign(hls.config, next))
  let hls = startWithinSession(attach(startSeconds), startSeconds)
  const recovery = createRecovery({
    ...playback,
    resume: () => continueLoading(hls, playlist.url, playback.position()),
    reload,
    recoverMedia: () => resetMedia(playback.position()),
    skip: () => resetMedia(startOfNextSegment(hls, playback.position())),
    goBack: () => reload(decodableStart()),
    // Plays the rest of the buffer.
    giveUp() {
      hls.stopLoad()
      report({ type: 'gave up' })
    },
    onFailure: measurePlayback(video, signal),
  })

  function attach(startSeconds: number, media?: AttachMediaSourceData): Hls {
    const created = new SessionHls({ ...hlsConfig(startSeconds), ...bufferTarget() })
    const markAsGap = createGapMarker()
    created.on(Events.ERROR, (_event, data) => {
      const seconds = playback.position()
      if (isUnreadable(data)) markAsGap(data.frag)
      if (data.fatal && !lacksQuality(playlist, data)) recovery.failed(failureOf(data))
      else if (isReset(data)) continueAt(afterReset(hls, seconds))
    })
    created.on(Events.FRAG_BUFFERED, () => recovery.progressed())
    reportLoads(created, playlist, report)
    // This also happens when hls.js resets the decoder by itself.
    created.on(Events.MEDIA_ATTACHED, playback.resume)
    created.loadSource(playlist.url)
    created.attachMedia(media ?? video)
    return created
  }

  function resetMedia(seconds: number): void {
    hls.recoverMediaError()
    continueAt(seconds)
  }

  function continueAt(seconds: number): void {
    playback.moveTo(seconds)
    hls.startLoad(seconds)
  }

  function reload(startSeconds = playback.position(), media?: AttachMediaSourceData): void {
    hls.destroy()
    hls = attach(startSeconds, media)
  }

  // At 0, the element may not have loaded the quality before.
  playlist.onChange = (changed) =>
    reload(video.currentTime || playback.position(), transferEmptied(hls, changed))
  onDecoderError(video, signal, () => recovery.failed({ kind: 'media' }))
  video.addEventListener('waiting', recovery.stalled, { signal })
  signal.addEventListener('abort', recovery.dispose)
  signal.addEventListener('abort', () => hls.destroy())
  return true
}

/** Without a playlist, startLoad does nothing. A new instance would empty the element. */
function continueLoading(hls: Hls, url: string, seconds: number): void {
  if (hls.levels.length > 0) hls.startLoad(seconds || -1)
  else hls.loadSource(url)
}

/**
 * Without a position to synchronize with: if the playhead is after the last segment, even by a
 * rounding error, hls.js would move it back by three segments on the next load of the playlist.
 */
class SessionHls extends Hls {
  override get liveSyncPosition(): null {
    return null
  }
}

/**
 * Starts at 0 if the session is shorter; hls.js would start at its end. Nothing is requested yet:
 * if the load of an init segment is aborted, hls.js may wait forever.
 */
function startWithinSession(hls: Hls, startSeconds: number): Hls {
  hls.once(Events.LEVEL_UPDATED, (_event, { details }) => {
    if (startSeconds >= details.edge) hls.startLoad(0)
  })
  return hls
}

function lacksQuality(playlist: Playlist, data: ErrorData): boolean {
  return isOfPlaylist(data) && playlist.mayLackQuality(data.response?.code)
}

/**
 * The element and its MediaSource, for an instance that waits until the old media is removed. The
 * last frame stays visible. In a new MediaSource, WebKitGTK often hangs. Undefined if the quality
 * has changed: another one may need other buffers.
 */
function transferEmptied(
  hls: Hls,
  { quality }: { quality?: string },
): AttachMediaSourceData | undefined {
  if (quality !== undefined) return undefined
  const media = hls.transferMedia()
  try {
    for (const { buffer } of Object.values(media?.tracks ?? {})) {
      if (buffer?.updating) buffer.abort()
      buffer?.remove(0, Infinity)
    }
    return media ?? undefined
  } catch {
    // Some other removal is in progress.
    return undefined
  }
}

/** hls.js reports such an error only on its next append. */
function onDecoderError(video: HTMLVideoElement, signal: AbortSignal, failed: () => void): void {
  const check = () => {
    if (video.error?.code !== MediaError.MEDIA_ERR_DECODE) return
    if (video.error.message.includes(NO_AUDIO_DEVICE)) video.muted = true
    failed()
  }
  video.addEventListener('error', check, { signal })
}

/** Of Firefox: nothing is wrong with audio alone, but it cannot be heard. Muted, it plays. */
const NO_AUDIO_DEVICE = 'OnMediaSinkAudioError'

function reportLoads(hls: Hls, playlist: Playlist, report: (event: PlaybackEvent) => void): void {
  hls.on(Events.LEVEL_UPDATED, (_event, { details }) => {
    report({ type: 'loaded' })
    report({ type: 'listed', edgeSeconds: details.live ? details.edge : undefined })
  })
  hls.on(Events.FRAG_BUFFERED, () => report({ type: 'loaded' }))
  hls.on(Events.ERROR, (_event, data) => {
    // hls.js must not be destroyed during its own event.
    if (lacksQuality(playlist, data)) return void setTimeout(() => playlist.select(ORIGINAL))
    const refusal = isOfPlaylist(data) ? refusalOf(data.response?.code) : undefined
    if (refusal) report({ type: 'refused', refusal })
    if (hasNoResponse(data)) report({ type: 'unreachable' })
    if (data.response?.code === 503) playlist.onBusy()
    const codec = missingCodec(hls.media, data)
    if (codec === undefined) return
    report({ type: 'undecodable', codec, durationSeconds: hls.latestLevelDetails?.edge ?? 0 })
    // It would wait forever. During this event, the browser would load the revoked URL.
    setTimeout(() => hls.destroy())
  })
}

/**
 * If the browser cannot parse a segment, hls.js resets the decoder and loads the same segment
 * again, without end. A segment that fails twice becomes a gap (EXT-X-GAP).
 */
function createGapMarker(): (fragment: Fragment | undefined) => void {
  const suspects = new Set<Fragment['sn']>()
  return (fragment) => {
    if (!fragment) return
    if (suspects.has(fragment.sn)) {
      fragment.gap = true
      // Without this tag, hls.js loads the segment although it is a gap.
      fragment.tagList.push(['GAP'])
    }
    suspects.add(fragment.sn)
  }
}

/** The codec that the browser does not support, if this is the failure. */
function missingCodec(video: HTMLMediaElement | null, data: ErrorData): string | undefined {
  if (data.details !== ErrorDetails.BUFFER_ADD_CODEC_ERROR) return undefined
  const [container, codecs = ''] = (data.mimeType ?? '').split(';codecs=')
  const isMissing = (codec: string) => !video?.canPlayType(`${container};codecs="${codec}"`)
  return codecs.split(',').find(isMissing)
}

/**
 * Whether the browser failed to parse this segment. If the decoder fails at another one, a pending
 * append fails as well, with another error name.
 */
function isUnreadable(data: ErrorData): boolean {
  return isReset(data) && data.error.name === SOURCE_BUFFER_ERROR_NAME
}

function isReset({ details }: ErrorData): boolean {
  return details === ErrorDetails.MEDIA_SOURCE_REQUIRES_RESET
}

/**
 * Where to continue after hls.js has reset the element: at the position, or after a gap that is
 * there. By itself hls.js continues where the element was last, at 0 or at the end.
 */
function afterReset(hls: Hls, seconds: number): number {
  const { fragments = [] } = hls.latestLevelDetails ?? {}
  const current = fragments.find(({ start, end }) => start <= seconds && seconds < end)
  return current?.gap ? startOfNextSegment(hls, seconds) : seconds
}

/** Start of the next segment, which is a key frame; the end if there is none. */
function startOfNextSegment(hls: Hls, seconds: number): number {
  const { fragments = [], edge = seconds } = hls.latestLevelDetails ?? {}
  const next = fragments.find(({ start }) => start > seconds)
  // Not exactly at the start: rounding would select the segment before.
  return next ? next.start + SEGMENT_INSET_SECONDS : edge
}

/** hls.js's name for the error of an append that the browser started and aborted. */
const SOURCE_BUFFER_ERROR_NAME = 'HlsJsSourceBufferError'
const SEGMENT_INSET_SECONDS = 0.05

/** Settings of hls.js for playback from `startSeconds`. */
export function hlsConfig(startSeconds: number): Partial<HlsConfig> {
  const { manifestLoadPolicy, playlistLoadPolicy, fragLoadPolicy, keyLoadPolicy } =
    Hls.DefaultConfig
  return {
    enableWorker: true,
    // The module build of hls.js contains no worker: without a path there is none.
    workerPath: workerUrl,
    lowLatencyMode: false,
    // The default, XMLHttpRequest, doubles Lighthouse's blocking time.
    loader: FetchLoader,
    startPosition: startSeconds,
    startFragPrefetch: true,
    // Limits the downloads in vain for visitors who leave.
    maxMaxBufferLength: 120,
    // The default is no limit; sessions last for hours.
    backBufferLength: 90,
    manifestLoadPolicy: withErrorRetries(manifestLoadPolicy, FIRST_PLAYLIST_RETRY),
    playlistLoadPolicy: withErrorRetries(playlistLoadPolicy, { maxNumRetry: 3 }),
    fragLoadPolicy: withErrorRetries(fragLoadPolicy, SEGMENT_RETRY),
    keyLoadPolicy: withErrorRetries(keyLoadPolicy, SEGMENT_RETRY),
  }
}

/** A new recording has no playlist for some seconds (503); retry often. */
const FIRST_PLAYLIST_RETRY = { maxNumRetry: 30, retryDelayMs: 1000, maxRetryDelayMs: 2000 }

/** The default backs off to 8 and 20 s: the visitor would wait that long after an outage. */
const SEGMENT_RETRY = { retryDelayMs: 500, maxRetryDelayMs: 1000 }

/** The default gives up a playlist after one error. */
function withErrorRetries(
  policy: HlsConfig['manifestLoadPolicy'],
  retries: Partial<RetryConfig>,
): HlsConfig['manifestLoadPolicy'] {
  const { errorRetry } = policy.default
  return {
    default: { ...policy.default, errorRetry: errorRetry && { ...errorRetry, ...retries } },
  }
}

function failureOf(data: ErrorData): Failure {
  const { type, response } = data
  if (type === ErrorTypes.MEDIA_ERROR) return { kind: 'media' }
  if (type !== ErrorTypes.NETWORK_ERROR) return { kind: 'other' }
  if (response?.code === undefined || !REFUSALS.has(response.code)) return { kind: 'network' }
  return { kind: 'network', refused: isOfPlaylist(data) ? 'playlist' : 'segment' }
}

/** Not so a request that hls.js itself aborts, as it does for a seek. */
function hasNoResponse({ type, details, response }: ErrorData): boolean {
  if (details === ErrorDetails.INTERNAL_ABORTED) return false
  return type === ErrorTypes.NETWORK_ERROR && !response?.code
}

function isOfPlaylist({ details }: ErrorData): boolean {
  return details === ErrorDetails.MANIFEST_LOAD_ERROR || details === ErrorDetails.LEVEL_LOAD_ERROR
}

/** Statuses that a retry does not change: malformed, forbidden, unknown, hidden, unplayable. */
const REFUSALS = new Set([400, 403, 404, 410, 422])

let isWarm = false

/**
 * Starts the worker at this path, once per page, before a session is chosen; all sessions use it.
 * Without this, the first frame after a click came in 365 ms instead of 317.
 */
function warmWorker(path: string): void {
  if (isWarm || typeof Worker === 'undefined') return
  isWarm = true
  try {
    const { worker } = loadWorker(path)
    // The next session starts another.
    worker.addEventListener('error', () => removeWorkerFromStore(path), { once: true })
  } catch {
    // Warming up is optional: real playback reports real errors.
  }
}
