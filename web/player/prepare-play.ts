// What can be made ready for a session that a visitor is about to play, so that the click itself waits for little.
import { loadHlsEngine } from './load-hls-engine.ts'

/**
 * Brings the player's code and the playlist at `source` into the browser's cache. Cheap enough to be called for
 * sessions that are not played after all; it never fails, for playing itself asks again.
 */
export function preparePlay(source: string): void {
  void loadHlsEngine()
    .then(({ prepareHls }) => prepareHls())
    .catch(() => undefined)
  void fetchIntoCache(source).catch(() => undefined)
}

/** Only an answer that was read to its end is kept. */
async function fetchIntoCache(url: string): Promise<void> {
  const response = await fetch(url)
  await response.arrayBuffer()
}
