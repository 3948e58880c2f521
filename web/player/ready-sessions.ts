// Makes the session ready that a visitor is about to play: it loads and decodes its first picture in an element that is
// in no document yet, and the click has little left to wait for.
import { loadHlsEngine } from './load-hls-engine.ts'
import { chooseEngine, playSession } from './play-session.ts'
import { createVideoElement } from './video-element.ts'

/** A session under way, paused at its start. */
export interface ReadySession {
  video: HTMLVideoElement
  /** Ends it, as the function that `playSession` answers. */
  end: () => void
}

export interface ReadySessions {
  /** Loads the player's code and starts its worker as soon as a visitor moves, touches or types. Answers the undo. */
  warmUp(this: void): () => void
  /** The visitor seems about to play it: begins the session if that lasts for a moment, in place of one that nobody took. */
  expect(this: void, source: string): void
  /** It does not seem so any more. */
  doubt(this: void): void
  /** Hands over the session if it is the one that was made ready; it is the caller's from then on. */
  take(this: void, source: string): ReadySession | undefined
}

/** A pointer that flies across a button stays for less. */
const REST_MS = 20
/** Between the end of a touch and its click, or for a hand that trembles. */
const DOUBT_MS = 1000
/** Who rests for longer is not about to play. */
const KEPT_MS = 30_000

/** At most one session is made ready at a time, with its first segment and no more. */
export function createReadySessions(): ReadySessions {
  let ready: (ReadySession & { source: string }) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  function discard(): void {
    ready?.end()
    ready = undefined
  }

  function prepare(source: string): void {
    discard()
    if (chooseEngine() === 'direct') return
    const video = createVideoElement()
    ready = { source, video, end: playSession(video, source) }
    timer = setTimeout(discard, KEPT_MS)
  }

  return {
    warmUp: () => (sparesData() ? () => undefined : whenSomebodyIsThere(loadPlayer)),
    expect(source) {
      clearTimeout(timer)
      if (ready?.source === source) {
        timer = setTimeout(discard, KEPT_MS)
        return
      }
      loadPlayer()
      void fetchIntoCache(source).catch(() => undefined)
      if (!sparesData()) timer = setTimeout(() => prepare(source), REST_MS)
    },
    doubt() {
      clearTimeout(timer)
      timer = setTimeout(discard, DOUBT_MS)
    },
    take(source) {
      clearTimeout(timer)
      if (ready?.source !== source || ready.video.error) {
        discard()
        return undefined
      }
      const taken = ready
      ready = undefined
      return taken
    },
  }
}

/** It never fails: playing itself asks again. */
function loadPlayer(): void {
  void loadHlsEngine()
    .then(({ prepareHls }) => prepareHls())
    .catch(() => undefined)
}

/** Calls it once, at the first sign of a visitor. Answers the undo. */
function whenSomebodyIsThere(work: () => void): () => void {
  const over = new AbortController()
  const begin = (): void => {
    over.abort()
    work()
  }
  for (const sign of ['pointermove', 'pointerdown', 'wheel', 'keydown'])
    window.addEventListener(sign, begin, { passive: true, signal: over.signal })
  return () => over.abort()
}

/** Only an answer that was read to its end is kept. */
async function fetchIntoCache(url: string): Promise<void> {
  const response = await fetch(url)
  await response.arrayBuffer()
}

/** Whether the visitor has asked for less (Save Data API); most browsers do not tell. */
function sparesData(): boolean {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } }
  return connection?.saveData === true
}
