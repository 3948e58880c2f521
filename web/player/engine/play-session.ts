// Plays a session's playlist in a video element, with hls.js if it can work, else with native HLS.
import { chooseEngine, detectSupport } from './choose-engine.ts'
import type { BrowserSupport } from './choose-engine.ts'
import { loadHlsEngine } from './load-hls-engine.ts'
import { Playback } from '../playback/playback.ts'
import { readStartPreferences } from '../../navigation/start-preferences.ts'
import { Playlist } from '../playback/playlist.ts'

interface PlaySessionOptions {
  /** Where playback begins, unless this is after the end: then at 0. */
  startSeconds?: number | undefined
  browser?: BrowserSupport
}

/** A session that was started in a video element. */
export interface PlayingSession {
  playback: Playback
  /** Stops it and empties the element. */
  end(this: void): void
}

/**
 * Loads the playlist at `source`, with audio in the remembered language, and recovers from failures
 * until the session is ended. The caller starts playback.
 */
export function playSession(
  video: HTMLVideoElement,
  source: string,
  { startSeconds = 0, browser = detectSupport() }: PlaySessionOptions = {},
): PlayingSession {
  const left = new AbortController()
  const { signal } = left
  const playlist = rememberedPlaylist(source)
  const playback = new Playback(video, playlist, signal)
  const { report } = playback
  // Before all other subscribers, who may seek elsewhere as soon as there is metadata.
  startAt(playback, startSeconds)
  startEngine(playback, { signal, startSeconds, browser }).catch(() => report({ type: 'gave up' }))
  return { playback, end: () => left.abort() }
}

/** The playlist at `source` with audio in the remembered language. */
export function rememberedPlaylist(source: string): Playlist {
  return new Playlist(source, readStartPreferences().audio)
}

interface EngineOptions {
  signal: AbortSignal
  startSeconds: number
  browser: BrowserSupport
}

/** Rejects if no engine could be loaded. */
async function startEngine(playback: Playback, options: EngineOptions): Promise<void> {
  const { signal, startSeconds, browser } = options
  const { video, playlist, report } = playback
  if (chooseEngine(browser) === 'hls') {
    // Without the player's code, native HLS may work.
    const engine = await loadHlsEngine().catch(() => undefined)
    if (signal.aborted) return
    const hlsOptions = { signal, report, startSeconds, force: browser.isFirefox }
    if (engine?.playWithHls(video, playlist, hlsOptions)) return
  }
  const { playDirectly } = await import('./direct-engine.ts')
  if (!signal.aborted) playDirectly(video, playlist, { signal, report })
}

/**
 * Seeks to the start once the duration is known, unless the position is there already: an unneeded
 * seek breaks WebKitGTK. A later source of the same session resumes at its position.
 */
function startAt({ video, read, subscribe }: Playback, seconds: number): void {
  const stop = subscribe(() => {
    const { durationSeconds } = read()
    if (durationSeconds === undefined) return
    stop()
    const target = seconds < durationSeconds ? seconds : 0
    if (video.currentTime !== target) video.currentTime = target
  })
}
