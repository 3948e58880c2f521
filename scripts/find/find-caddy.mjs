// Finds Caddy on this machine.
import { findProgram } from './find-program.mjs'

/**
 * Path of Caddy, or undefined. AFTERCAST_CADDY overrides the search.
 * @returns {string | undefined}
 */
export function findCaddy() {
  return findProgram({ variables: ['AFTERCAST_CADDY'], names: ['caddy'] })
}
