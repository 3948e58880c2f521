// Plays a session's playlist in a video element: hls.js where it can work, else the browser's own HLS.
import { loadHlsEngine } from './load-hls-engine.ts'
import { playDirectly } from './direct-engine.ts'

/** What the choice of the engine depends on. */
export interface BrowserTraits {
  hasMediaSource: boolean
  isFirefox: boolean
}

/**
 * Loads the playlist at `source` and keeps it going until the answered function is called, which leaves the element
 * empty for the next. Starting to play is the caller's affair. Failures are repaired in silence as far as possible.
 */
export function playSession(
  video: HTMLVideoElement,
  source: string,
  browser = readBrowserTraits(),
): () => void {
  const left = new AbortController()
  startAtZero(video, left.signal)
  if (chooseEngine(browser) === 'direct') {
    playDirectly(video, source, left.signal)
  } else {
    void loadHlsEngine()
      .then(({ playWithHls }) => {
        if (left.signal.aborted) return
        if (!playWithHls(video, source, { signal: left.signal, force: browser.isFirefox })) {
          playDirectly(video, source, left.signal)
        }
      })
      .catch(() => {
        // Without the player's code the browser's own HLS may still do.
        if (!left.signal.aborted) playDirectly(video, source, left.signal)
      })
  }
  return () => left.abort()
}

/**
 * hls.js first, also where the browser says it plays HLS itself (Chromium does, and fails on some streams), and always
 * on Firefox, which has no HLS to fall back to. `direct` is both the native fall-back and the last one: the source is
 * set on the element, and a browser that plays HLS plays it.
 */
export function chooseEngine(
  { hasMediaSource, isFirefox } = readBrowserTraits(),
): 'hls' | 'direct' {
  return hasMediaSource || isFirefox ? 'hls' : 'direct'
}

function readBrowserTraits(): BrowserTraits {
  return {
    hasMediaSource: 'MediaSource' in globalThis || 'ManagedMediaSource' in globalThis,
    isFirefox: /firefox/i.test(navigator.userAgent),
  }
}

/**
 * Sees to it once per session that the position is 0 when the metadata is there. Only where it is not: WebKitGTK
 * breaks on a seek that is not needed, and a later source of the same session resumes where playback was.
 */
function startAtZero(video: HTMLVideoElement, signal: AbortSignal): void {
  const seek = () => {
    if (video.currentTime !== 0) video.currentTime = 0
  }
  video.addEventListener('loadedmetadata', seek, { once: true, signal })
}
