// Shows one pre-roll, sends its tracking events, and removes it on the first reason to do so.
import type { Consent } from './consent.ts'
import type { PrerollAd } from './load-vast.ts'
import { playMacros } from './macros.ts'
import type { MacroValues } from './macros.ts'
import { mediaErrorCode, timeoutCode } from './media-failure.ts'
import { createOverlay } from './preroll-overlay.ts'
import type { PrerollOverlay } from './preroll-overlay.ts'
import { createTracking, sendBeacon } from './tracking.ts'
import type { Tracking } from './tracking.ts'
import type { SentErrorCode } from './vast-error.ts'
import { watchAd } from './watch-ad.ts'

export interface PrerollTarget {
  /** The overlay is inserted here and covers the other content. */
  stage: HTMLElement
  /** The main video, below the overlay. */
  covered: HTMLVideoElement
}

export interface RunOptions extends PrerollTarget {
  consent: Consent
  signal: AbortSignal
}

/** The overlay is removed after this time at the latest. */
export const PREROLL_LIMIT_MS = 30_000

/** Resolves when the overlay was removed: closed, ended, after 30 s, failed, or aborted. */
export function runPreroll(
  ad: PrerollAd,
  { stage, covered, consent, signal }: RunOptions,
): Promise<void> {
  return new Promise((resolve) => {
    const removed = new AbortController()
    const overlay = createOverlay(ad)
    const { root, video } = overlay
    /** State of the ad when the overlay was removed. */
    let last: MacroValues | undefined
    const tracking = createTracking(ad, (url, values) => {
      const playing = last ?? playMacros(video)
      sendBeacon(url, { ...playing, ...consent.macrosFor(url), ...values })
    })

    function remove(): void {
      if (removed.signal.aborted) return
      last = playMacros(video)
      removed.abort()
      clearVideo(video)
      // If it has the focus, the body has it afterwards.
      root.remove()
      covered.inert = false
      if (!signal.aborted && isFocusFree()) covered.focus({ preventScroll: true })
      resolve()
    }

    if (signal.aborted) return resolve()
    signal.addEventListener('abort', remove, { signal: removed.signal })
    const fail = (code: SentErrorCode) => {
      tracking.failed(code)
      remove()
    }
    const parts = { overlay, tracking, removed: removed.signal, remove, fail }
    try {
      block(covered, removed.signal)
      listenToVisitor(parts)
      trackVideo(parts, ad)
      stage.append(root)
      // Until the first frame of the ad, as before.
      video.poster = covered.poster
      video.src = ad.mediaUrl
      play(video, () => fail(400))
      listenToFailures(parts, ad, signal)
    } catch {
      // A bug, or an extension that changes the page's functions.
      fail(900)
    }
  })
}

interface Parts {
  overlay: PrerollOverlay
  tracking: Tracking
  /** Aborts on removal; ends every listener and timer. */
  removed: AbortSignal
  remove: () => void
  /** Reports the code, and removes the overlay. */
  fail: (code: SentErrorCode) => void
}

/** Whether the visitor is using nothing on the page; a heading has the focus after a navigation. */
function isFocusFree(): boolean {
  const { activeElement } = document
  return !(activeElement instanceof HTMLElement) || activeElement.tabIndex < 0
}

/** The video below neither plays nor receives clicks and keys. */
function block(covered: HTMLVideoElement, removed: AbortSignal): void {
  covered.inert = true
  covered.pause()
  covered.addEventListener('play', () => covered.pause(), { signal: removed })
  // The overlay is beside it, and would not be seen.
  if (document.fullscreenElement === covered) void document.exitFullscreen().catch(() => undefined)
}

function listenToVisitor({ overlay, tracking, removed, remove }: Parts): void {
  const { close, link, video } = overlay
  const options = { signal: removed }
  const dismiss = () => {
    tracking.closed()
    remove()
  }
  close.addEventListener('click', dismiss, options)
  document.addEventListener(
    'keydown',
    (event) => {
      const isForDialog = document.querySelector('dialog[open]') !== null
      if (event.key === 'Escape' && !event.defaultPrevented && !isForDialog) dismiss()
    },
    options,
  )
  link?.addEventListener('click', tracking.clicked, options)
  // The middle button opens links as well.
  link?.addEventListener('auxclick', (event) => event.button === 1 && tracking.clicked(), options)
  document.addEventListener(
    'visibilitychange',
    () => {
      if (document.hidden) video.pause()
      else play(video)
      if (document.hidden) tracking.paused()
      else tracking.resumed()
    },
    options,
  )
}

function trackVideo({ overlay, tracking, removed, remove }: Parts, ad: PrerollAd): void {
  const { video, showRemaining } = overlay
  const options = { signal: removed }
  const durationSeconds = () =>
    Number.isFinite(video.duration) ? video.duration : (ad.durationSeconds ?? 0)
  video.addEventListener('playing', tracking.started, options)
  video.addEventListener(
    'timeupdate',
    () => {
      const position = { seconds: video.currentTime, durationSeconds: durationSeconds() }
      tracking.progressed(position)
      const shownSeconds = Math.min(position.durationSeconds, PREROLL_LIMIT_MS / 1000)
      if (shownSeconds > 0) showRemaining(shownSeconds - position.seconds)
    },
    options,
  )
  video.addEventListener(
    'ended',
    () => {
      tracking.completed(durationSeconds())
      remove()
    },
    options,
  )
}

function listenToFailures(parts: Parts, { mediaUrl }: PrerollAd, left: AbortSignal): void {
  const { overlay, tracking, removed, remove, fail } = parts
  const { root, video } = overlay
  // Errors of `video.src` are reported on the video element.
  video.addEventListener(
    'error',
    () => {
      void mediaErrorCode(video, mediaUrl, left).then(tracking.failed)
      remove()
    },
    { signal: removed },
  )
  const limit = setTimeout(() => {
    // An ad that is longer than the limit is not an error.
    if (video.currentTime === 0) tracking.failed(timeoutCode(video, 'late'))
    remove()
  }, PREROLL_LIMIT_MS)
  removed.addEventListener('abort', () => clearTimeout(limit))
  watchAd({
    root,
    video,
    signal: removed,
    onFailure: (failure) => fail(failure === 'hidden' ? 400 : timeoutCode(video, failure)),
  })
}

function play(video: HTMLVideoElement, onRefusal?: () => void): void {
  video.play().catch((error: unknown) => {
    // AbortError: removed during the load. NotSupportedError: the error event handles it.
    const isRefusal = error instanceof DOMException && error.name === 'NotAllowedError'
    if (isRefusal && !document.hidden) onRefusal?.()
  })
}

/** `load()` cancels the download, which removing `src` alone does not. */
function clearVideo(video: HTMLVideoElement): void {
  video.pause()
  video.removeAttribute('src')
  video.load()
}
