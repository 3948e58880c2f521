// Lets every Node that tests start find what another has compiled: starting the program takes half as long then.
import path from 'node:path'

/** Names the folder in the environment, from which all children have it. Entries go by content, so none is ever stale. */
export function shareCompileCache() {
  const folder = path.resolve(import.meta.dirname, '../node_modules/.cache/aftercast-compile')
  process.env.NODE_COMPILE_CACHE ??= folder
}
