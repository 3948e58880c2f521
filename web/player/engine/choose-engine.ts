// Whether hls.js or native HLS plays a session.

/** The criteria for the choice of the engine. */
export interface BrowserSupport {
  hasMediaSource: boolean
  isFirefox: boolean
}

/**
 * hls.js is preferred to native HLS (Chromium's fails on some streams) and forced on Firefox, which
 * has no native HLS. `direct` sets the playlist as the source of the element; a browser with native
 * HLS plays it.
 */
export function chooseEngine({ hasMediaSource, isFirefox } = detectSupport()): 'hls' | 'direct' {
  return hasMediaSource || isFirefox ? 'hls' : 'direct'
}

export function detectSupport(): BrowserSupport {
  return {
    hasMediaSource: 'MediaSource' in globalThis || 'ManagedMediaSource' in globalThis,
    isFirefox: /firefox/i.test(navigator.userAgent),
  }
}
