// Dynamic import of the player's code, the largest chunk of the page.

/** Loads hls.js and its engine, once. Call it early on intent. */
export function loadHlsEngine() {
  return import('./hls-engine.ts')
}
