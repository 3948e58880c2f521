// The door to the player's code, which is larger than all the rest and comes only to who is about to play.

/** Loads hls.js and what drives it; again and again the same. Call it early on intent. */
export function loadHlsEngine() {
  return import('./hls-engine.ts')
}
