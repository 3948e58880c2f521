// Starts the worker of hls.js before a session is chosen: starting it takes longer than loading a
// segment. Without this, the first frame after a click came in 365 ms instead of 317.
import { loadWorker, removeWorkerFromStore } from 'hls.js/src/demux/inject-worker.ts'

let isWarm = false

/** Starts the worker at this path, once per page; all sessions use it. */
export function warmWorker(path: string): void {
  if (isWarm || typeof Worker === 'undefined') return
  isWarm = true
  try {
    const { worker } = loadWorker(path)
    // The next session starts another.
    worker.addEventListener('error', () => removeWorkerFromStore(path), { once: true })
  } catch {
    // Warming up is optional: real playback reports real errors.
  }
}
