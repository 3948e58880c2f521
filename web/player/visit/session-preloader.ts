// Preloads the session that a visitor is about to play, up to its first decoded frame, in a
// detached video element. A click then only inserts the element into the page.
import { loadHlsEngine } from '../engine/load-hls-engine.ts'
import { chooseEngine } from '../engine/choose-engine.ts'
import { playSession, rememberedPlaylist } from '../engine/play-session.ts'
import type { PlayingSession } from '../engine/play-session.ts'
import { isDataSaverOn } from './data-saver.ts'
import { createVideoElement } from '../video-element.ts'

export interface SessionPreloader {
  /**
   * Loads the player's code and starts its worker on the visitor's first input. Returns the undo.
   */
  warmUp(this: void): () => void
  /**
   * Preloads a session after a short delay; replaces the one before. Call it on hover and focus.
   */
  preload(this: void, source: string): void
  /** Cancels the preload after a second. Call it at the end of hover and focus. */
  cancelSoon(this: void): void
  /** Transfers the session, paused at its start, to the caller, if it is the preloaded one. */
  take(this: void, source: string): PlayingSession | undefined
}

/** A pointer that only crosses a button leaves sooner. */
const HOVER_MS = 20
/** Bridges the time from the end of a touch to its click, and a pointer that leaves by accident. */
const CANCEL_AFTER_MS = 1000
/** A longer hover does not mean a click. */
const MAX_AGE_MS = 30_000

/** Preloads at most one session at a time, with only its first segment. */
export function createSessionPreloader(): SessionPreloader {
  let preloaded: (PlayingSession & { source: string }) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  function discard(): void {
    preloaded?.end()
    preloaded = undefined
  }

  function load(source: string): void {
    discard()
    if (chooseEngine() === 'direct') return
    preloaded = { source, ...playSession(createVideoElement(), source) }
    timer = setTimeout(discard, MAX_AGE_MS)
  }

  return {
    warmUp: () => (isDataSaverOn() ? () => undefined : onFirstInput(loadPlayer)),
    preload(source) {
      clearTimeout(timer)
      if (preloaded?.source === source) {
        timer = setTimeout(discard, MAX_AGE_MS)
        return
      }
      loadPlayer()
      void fetchIntoCache(rememberedPlaylist(source).url).catch(() => undefined)
      if (!isDataSaverOn()) timer = setTimeout(() => load(source), HOVER_MS)
    },
    cancelSoon() {
      clearTimeout(timer)
      timer = setTimeout(discard, CANCEL_AFTER_MS)
    },
    take(source) {
      clearTimeout(timer)
      if (preloaded?.source !== source || preloaded.playback.video.error) {
        discard()
        return undefined
      }
      const taken = preloaded
      preloaded = undefined
      return taken
    },
  }
}

/** Errors are ignored: `playSession` loads the code again. */
function loadPlayer(): void {
  void loadHlsEngine()
    .then(({ prepareHls }) => prepareHls())
    .catch(() => undefined)
}

/** Calls `work` once, on the first input. Returns the undo. */
function onFirstInput(work: () => void): () => void {
  const done = new AbortController()
  const begin = (): void => {
    done.abort()
    work()
  }
  for (const input of ['pointermove', 'pointerdown', 'wheel', 'keydown'])
    window.addEventListener(input, begin, { passive: true, signal: done.signal })
  return () => done.abort()
}

/** Browsers cache only a body that was read to its end. */
async function fetchIntoCache(url: string): Promise<void> {
  const response = await fetch(url)
  await response.arrayBuffer()
}
