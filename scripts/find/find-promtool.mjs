// Finds Prometheus' checker of metrics and rules on this machine.
import { findProgram } from './find-program.mjs'

/**
 * Path of promtool, or undefined. AFTERCAST_PROMTOOL overrides the search.
 * @returns {string | undefined}
 */
export function findPromtool() {
  return findProgram({
    variables: ['AFTERCAST_PROMTOOL'],
    names: ['promtool'],
    places: ['/usr/bin/promtool'],
  })
}
