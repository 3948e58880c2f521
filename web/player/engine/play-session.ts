// Plays a session's playlist in a video element, with hls.js if it can work, else with native HLS.
import { chooseEngine, detectSupport } from './choose-engine.ts'
import type { BrowserSupport } from './choose-engine.ts'
import { loadHlsEngine } from './load-hls-engine.ts'
import { Playback } from '../playback/playback.ts'
import { readStartPreferences } from '../../navigation/start-preferences.ts'
import { Playlist } from '../playback/playlist.ts'

interface PlaySessionOptions {
  /** Where loading begins, unless this is after the end: then at 0. Default 0. */
  findStart?: (this: void, signal: AbortSignal) => Promise<number>
  browser?: BrowserSupport
  /** Default the remembered one. */
  quality?: string
}

/** A session that was started in a video element. */
export interface PlayingSession {
  playback: Playback
  /** Stops it and empties the element. */
  end(this: void): void
}

/**
 * Loads the playlist at `source`, with what the visitor chose before, and recovers from failures
 * until the session is ended. The caller starts playback.
 */
export function playSession(
  video: HTMLVideoElement,
  source: string,
  { findStart = async () => 0, browser = detectSupport(), quality }: PlaySessionOptions = {},
): PlayingSession {
  const left = new AbortController()
  const { signal } = left
  // Before the store, whose subscribers may seek elsewhere as soon as there is metadata.
  startAtZero(video, signal)
  const playlist = rememberedPlaylist(source, quality)
  const playback = new Playback(video, playlist, signal)
  const { report } = playback
  startEngine(playback, { signal, findStart, browser }).catch(() => report({ type: 'gave up' }))
  return { playback, end: () => left.abort() }
}

/** The playlist at `source` with the remembered audio, and the remembered or the given quality. */
export function rememberedPlaylist(source: string, quality?: string): Playlist {
  const remembered = readStartPreferences()
  return new Playlist(source, { ...remembered, quality: quality ?? remembered.quality })
}

/** What a session may have played when its event is heard. */
const LATE_SECONDS = 1

interface EngineOptions {
  signal: AbortSignal
  findStart: (signal: AbortSignal) => Promise<number>
  browser: BrowserSupport
}

/** Rejects if no engine could be loaded. */
async function startEngine(playback: Playback, options: EngineOptions): Promise<void> {
  const { signal, findStart, browser } = options
  const { video, playlist, report } = playback
  if (chooseEngine(browser) === 'hls') {
    // Without the player's code, native HLS may work.
    const [engine, startSeconds] = await Promise.all([
      loadHlsEngine().catch(() => undefined),
      findStart(signal),
    ])
    if (signal.aborted) return
    const hlsOptions = { signal, report, startSeconds, force: browser.isFirefox }
    if (engine?.playWithHls(video, playlist, hlsOptions)) return
  }
  const { playDirectly } = await import('./direct-engine.ts')
  if (!signal.aborted) playDirectly(video, playlist, { signal, report })
}

/**
 * Seeks to 0 on the first `loadedmetadata` of a session, unless the position is 0 already (an
 * unneeded seek breaks WebKitGTK) or just after: the event may be late. A later source of the same
 * session resumes at its position.
 */
function startAtZero(video: HTMLVideoElement, signal: AbortSignal): void {
  const seek = () => {
    if (video.currentTime > LATE_SECONDS) video.currentTime = 0
  }
  video.addEventListener('loadedmetadata', seek, { once: true, signal })
}
