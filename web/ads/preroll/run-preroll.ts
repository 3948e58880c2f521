// The life of one pre-roll on the page: shows it, tells of it, and takes it away for whichever
// reason comes first.
import type { PrerollAd } from './load-vast.ts'
import { playMacros } from './macros.ts'
import { createOverlay } from './preroll-overlay.ts'
import type { PrerollOverlay } from './preroll-overlay.ts'
import { createTracking, sendBeacon } from './tracking.ts'
import type { Tracking } from './tracking.ts'
import type { VastErrorCode } from './vast.ts'
import { watchAd } from './watch-ad.ts'

export interface PrerollPlace {
  /** What the overlay is put into, over everything in it. */
  stage: HTMLElement
  /** The video that waits below. */
  covered: HTMLVideoElement
}

/** No pre-roll is longer to be seen than this. */
export const PREROLL_LIMIT_MS = 30_000

/**
 * Resolves when the overlay is gone: closed, ended, after 30 s, in any trouble, or because the
 * signal aborts.
 */
export function runPreroll(
  ad: PrerollAd,
  { stage, covered }: PrerollPlace,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const gone = new AbortController()
    const overlay = createOverlay(ad)
    const { root, video } = overlay
    const tracking = createTracking(ad, (url, values) =>
      sendBeacon(url, { ...playMacros(video), ...values }),
    )

    function end(): void {
      if (gone.signal.aborted) return
      gone.abort()
      const hadFocus = root.contains(document.activeElement)
      clearVideo(video)
      root.remove()
      covered.inert = false
      if (hadFocus && !signal.aborted) covered.focus({ preventScroll: true })
      resolve()
    }

    if (signal.aborted) return resolve()
    signal.addEventListener('abort', end, { signal: gone.signal })
    const life = { overlay, tracking, gone: gone.signal, end }
    cover(covered, gone.signal)
    heedVisitor(life)
    followVideo(life, ad)
    stage.append(root)
    start(life, ad.mediaUrl)
  })
}

interface Life {
  overlay: PrerollOverlay
  tracking: Tracking
  /** Aborts when the overlay goes: every listener and timer hangs on it. */
  gone: AbortSignal
  end: () => void
}

/** Nothing plays below the ad, and nothing there takes clicks or keys. */
function cover(covered: HTMLVideoElement, gone: AbortSignal): void {
  covered.inert = true
  covered.pause()
  covered.addEventListener('play', () => covered.pause(), { signal: gone })
}

function heedVisitor({ overlay, tracking, gone, end }: Life): void {
  const { close, link, video } = overlay
  const until = { signal: gone }
  const dismiss = () => {
    tracking.closed()
    end()
  }
  close.addEventListener('click', dismiss, until)
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key === 'Escape' && !event.defaultPrevented) dismiss()
    },
    until,
  )
  link?.addEventListener('click', tracking.clicked, until)
  // The middle button opens links too.
  link?.addEventListener('auxclick', (event) => event.button === 1 && tracking.clicked(), until)
  document.addEventListener(
    'visibilitychange',
    () => {
      if (document.hidden) video.pause()
      else play(video)
      if (document.hidden) tracking.paused()
      else tracking.resumed()
    },
    until,
  )
}

function followVideo({ overlay, tracking, gone, end }: Life, ad: PrerollAd): void {
  const { video, showRemaining } = overlay
  const until = { signal: gone }
  const durationSeconds = () =>
    Number.isFinite(video.duration) ? video.duration : (ad.durationSeconds ?? 0)
  video.addEventListener('playing', tracking.started, until)
  video.addEventListener(
    'timeupdate',
    () => {
      const position = { seconds: video.currentTime, durationSeconds: durationSeconds() }
      tracking.progressed(position)
      const shownSeconds = Math.min(position.durationSeconds, PREROLL_LIMIT_MS / 1000)
      if (shownSeconds > 0) showRemaining(shownSeconds - position.seconds)
    },
    until,
  )
  video.addEventListener(
    'ended',
    () => {
      tracking.completed(durationSeconds())
      end()
    },
    until,
  )
}

function start({ overlay, tracking, gone, end }: Life, mediaUrl: string): void {
  const { root, video } = overlay
  const fail = (code: VastErrorCode) => {
    tracking.failed(code)
    end()
  }
  // An element that is told to wait for a source says nothing of its failure: this is the one that
  // does.
  video.addEventListener('error', () => fail(405), { signal: gone })
  const limit = setTimeout(() => {
    // One that played for so long is no failure.
    if (video.currentTime === 0) tracking.failed(402)
    end()
  }, PREROLL_LIMIT_MS)
  gone.addEventListener('abort', () => clearTimeout(limit))
  video.src = mediaUrl
  play(video, () => fail(405))
  watchAd({
    root,
    video,
    signal: gone,
    onTrouble: (trouble) => fail(trouble === 'late' ? 402 : 405),
  })
}

function play(video: HTMLVideoElement, onRefusal?: () => void): void {
  video.play().catch((error: unknown) => {
    // AbortError: taken away while it loaded. NotSupportedError: the error event tells.
    const isRefusal = error instanceof DOMException && error.name === 'NotAllowedError'
    if (isRefusal && !document.hidden) onRefusal?.()
  })
}

/** An empty source alone would go on loading the old one. */
function clearVideo(video: HTMLVideoElement): void {
  video.pause()
  video.removeAttribute('src')
  video.load()
}
