// Plays a session's playlist in a video element, with hls.js if it can work, else with native HLS.
import { loadHlsEngine } from './load-hls-engine.ts'
import { playDirectly } from './direct-engine.ts'

/** The criteria for the choice of the engine. */
export interface BrowserSupport {
  hasMediaSource: boolean
  isFirefox: boolean
}

/**
 * Loads the playlist at `source` and recovers from failures until the returned function is called,
 * which empties the element. The caller starts playback.
 */
export function playSession(
  video: HTMLVideoElement,
  source: string,
  browser = detectSupport(),
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
        // The player's code failed to load: native HLS may work.
        if (!left.signal.aborted) playDirectly(video, source, left.signal)
      })
  }
  return () => left.abort()
}

/**
 * hls.js is preferred to native HLS (Chromium's fails on some streams) and forced on Firefox, which
 * has no native HLS. `direct` sets the playlist as the source of the element; a browser with native
 * HLS plays it.
 */
export function chooseEngine({ hasMediaSource, isFirefox } = detectSupport()): 'hls' | 'direct' {
  return hasMediaSource || isFirefox ? 'hls' : 'direct'
}

function detectSupport(): BrowserSupport {
  return {
    hasMediaSource: 'MediaSource' in globalThis || 'ManagedMediaSource' in globalThis,
    isFirefox: /firefox/i.test(navigator.userAgent),
  }
}

/**
 * Seeks to 0 on the first `loadedmetadata` of a session, unless the position is 0 already: an
 * unneeded seek breaks WebKitGTK. A later source of the same session resumes at its position.
 */
function startAtZero(video: HTMLVideoElement, signal: AbortSignal): void {
  const seek = () => {
    if (video.currentTime !== 0) video.currentTime = 0
  }
  video.addEventListener('loadedmetadata', seek, { once: true, signal })
}
