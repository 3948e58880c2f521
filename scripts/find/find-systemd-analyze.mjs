// Finds systemd's checker of units on this machine; systemd need not run.
import { findProgram } from './find-program.mjs'

/**
 * Path of systemd-analyze, or undefined. AFTERCAST_SYSTEMD_ANALYZE overrides the search.
 * @returns {string | undefined}
 */
export function findSystemdAnalyze() {
  return findProgram({
    variables: ['AFTERCAST_SYSTEMD_ANALYZE'],
    names: ['systemd-analyze'],
    places: ['/usr/bin/systemd-analyze'],
  })
}
