// Plays with hls.js. This file and the library are one chunk, loaded on intent.
import Hls, { ErrorDetails, ErrorTypes, Events, FetchLoader } from 'hls.js/light'
import type { ErrorData, Fragment, HlsConfig, RetryConfig } from 'hls.js/light'
import workerUrl from 'hls.js/dist/hls.worker.js?url'
import { watchBufferAllowance } from './buffer-allowance.ts'
import { noteDecodableStart } from './decodable-start.ts'
import { keepPlayback } from './keep-playback.ts'
import { createRecovery } from './recovery.ts'
import type { Failure } from './recovery.ts'
import { warmWorker } from './warm-worker.ts'

/** Makes ready what every session needs, before one is chosen. */
export function prepareHls(): void {
  warmWorker(hlsConfig(0))
}

interface HlsEngineOptions {
  signal: AbortSignal
  /** Use hls.js even where it says that it is not supported. */
  force: boolean
}

/** Plays until the signal aborts; the element is empty afterwards. Answers false where hls.js cannot work. */
export function playWithHls(
  video: HTMLVideoElement,
  source: string,
  { signal, force }: HlsEngineOptions,
): boolean {
  if (!Hls.isSupported() && !force) return false
  prepareHls()
  const playback = keepPlayback(video, signal)
  const decodableStart = noteDecodableStart(video, signal)
  const allowance = watchBufferAllowance(video, signal, (now) => Object.assign(hls.config, now))
  let hls = attach(0)
  let failedSeconds = 0
  const recovery = createRecovery({
    // Until a playlist has come there is nothing to resume, and startLoad would do nothing.
    resume: () => (hls.levels.length > 0 ? hls.startLoad(video.currentTime || -1) : reload()),
    reload,
    recoverMedia() {
      failedSeconds = video.currentTime
      hls.recoverMediaError()
    },
    skip() {
      // While the element is reset its position is 0.
      failedSeconds = startBehind(hls, Math.max(failedSeconds, video.currentTime))
      hls.recoverMediaError()
      hls.startLoad(failedSeconds)
    },
    goBack: () => reload(decodableStart()),
    // What is buffered still plays.
    giveUp: () => hls.stopLoad(),
    isAwaited: playback.isAwaited,
  })

  function attach(startSeconds: number): Hls {
    const made = new Hls({ ...hlsConfig(startSeconds), ...allowance() })
    const leaveOut = leaveOutUnreadable()
    made.on(Events.ERROR, (_event, data) => {
      if (isUnreadable(data)) leaveOut(data.frag)
      if (data.fatal) recovery.failed(failureOf(data))
    })
    made.on(Events.FRAG_BUFFERED, () => recovery.progressed())
    // Also where hls.js resets the decoder of its own accord.
    made.on(Events.MEDIA_ATTACHED, playback.goOn)
    made.loadSource(source)
    made.attachMedia(video)
    return made
  }

  function reload(startSeconds = video.currentTime): void {
    hls.destroy()
    hls = attach(startSeconds)
  }

  // hls.js tells of what cannot be decoded only when it has more to append.
  video.addEventListener(
    'error',
    () => {
      if (video.error?.code === MediaError.MEDIA_ERR_DECODE) recovery.failed({ kind: 'media' })
    },
    { signal },
  )
  video.addEventListener('waiting', recovery.ranDry, { signal })
  signal.addEventListener('abort', () => {
    recovery.dispose()
    hls.destroy()
  })
  return true
}

/**
 * hls.js resets the decoder and loads the same again, without end, where a browser takes a segment for unreadable while it
 * reads it in. A segment of which that is said twice is left out, as if the playlist called it a gap.
 */
function leaveOutUnreadable(): (fragment: Fragment | undefined) => void {
  const suspects = new Set<Fragment['sn']>()
  return (fragment) => {
    if (!fragment) return
    if (suspects.has(fragment.sn)) {
      fragment.gap = true
      // Without the tag hls.js loads it all the same.
      fragment.tagList.push(['GAP'])
    }
    suspects.add(fragment.sn)
  }
}

/**
 * Whether the browser could not read the segment itself. One that was only in its way when a decoder failed at another is
 * refused as well, with an error of another name.
 */
function isUnreadable({ details, error }: ErrorData): boolean {
  return (
    details === ErrorDetails.MEDIA_SOURCE_REQUIRES_RESET && error.name === SOURCE_BUFFER_ERROR_NAME
  )
}

/** Where the next segment begins: with a picture that needs none before it. Where there is none, the end. */
function startBehind(hls: Hls, seconds: number): number {
  const { fragments = [], edge = seconds } = hls.latestLevelDetails ?? {}
  const next = fragments.find(({ start }) => start > seconds)
  // A little behind: the segment before is not to be loaded for what is rounded.
  return next ? next.start + SEGMENT_INSET_SECONDS : edge
}

/** What hls.js calls the error of an append that the browser began, and then broke off. */
const SOURCE_BUFFER_ERROR_NAME = 'HlsJsSourceBufferError'
const SEGMENT_INSET_SECONDS = 0.05

/** Settings of hls.js for a session that begins at `startSeconds`. */
export function hlsConfig(startSeconds: number): Partial<HlsConfig> {
  const { manifestLoadPolicy, playlistLoadPolicy, fragLoadPolicy, keyLoadPolicy } =
    Hls.DefaultConfig
  return {
    enableWorker: true,
    // The module build carries no worker of its own: without a path there would be none.
    workerPath: workerUrl,
    lowLatencyMode: false,
    // Lighthouse's blocking time is half of that with XMLHttpRequest, the default, whose data is copied once more for who looks in.
    loader: FetchLoader,
    startPosition: startSeconds,
    startFragPrefetch: true,
    // Spares the data of visitors who leave.
    maxMaxBufferLength: 120,
    // The default keeps all that was played; sessions last for hours.
    backBufferLength: 90,
    manifestLoadPolicy: withErrorRetries(manifestLoadPolicy, FIRST_PLAYLIST),
    playlistLoadPolicy: withErrorRetries(playlistLoadPolicy, { maxNumRetry: 3 }),
    fragLoadPolicy: withErrorRetries(fragLoadPolicy, PIECE),
    keyLoadPolicy: withErrorRetries(keyLoadPolicy, PIECE),
  }
}

/** A recording that has only just begun has nothing to list for some seconds (503); then it is to begin soon. */
const FIRST_PLAYLIST = { maxNumRetry: 30, retryDelayMs: 1000, maxRetryDelayMs: 2000 }

/** The default doubles its pauses up to 8 and 20 s: the visitor would wait for that after the server is back. */
const PIECE = { retryDelayMs: 500, maxRetryDelayMs: 1000 }

/** The default gives up on a playlist after one error. */
function withErrorRetries(
  policy: HlsConfig['manifestLoadPolicy'],
  retries: Partial<RetryConfig>,
): HlsConfig['manifestLoadPolicy'] {
  const { errorRetry } = policy.default
  return {
    default: { ...policy.default, errorRetry: errorRetry && { ...errorRetry, ...retries } },
  }
}

function failureOf({ type, details, response }: ErrorData): Failure {
  if (type === ErrorTypes.MEDIA_ERROR) return { kind: 'media' }
  if (type !== ErrorTypes.NETWORK_ERROR) return { kind: 'other' }
  if (response?.code === undefined || !REFUSALS.has(response.code)) return { kind: 'network' }
  const isPlaylist =
    details === ErrorDetails.MANIFEST_LOAD_ERROR || details === ErrorDetails.LEVEL_LOAD_ERROR
  return { kind: 'network', refused: isPlaylist ? 'playlist' : 'piece' }
}

/** Answers that another try does not change: malformed, unknown, taken off, unplayable. */
const REFUSALS = new Set([400, 403, 404, 410, 422])
