// Shares Node's compile cache between all processes of the tests, which halves their start time.
import path from 'node:path'

/**
 * Sets the cache folder in the environment, which child processes inherit. Entries are keyed by
 * content and never become stale.
 */
export function shareCompileCache() {
  const folder = path.resolve(import.meta.dirname, '../node_modules/.cache/aftercast-compile')
  process.env.NODE_COMPILE_CACHE ??= folder
}
