// Finds the Apache HTTP server on this machine.
import { findProgram } from './find-program.mjs'

/**
 * Path of Debian's Apache, or undefined. AFTERCAST_APACHE overrides the search.
 * @returns {string | undefined}
 */
export function findApache() {
  return findProgram({
    variables: ['AFTERCAST_APACHE'],
    names: ['apache2'],
    places: ['/usr/sbin/apache2'],
  })
}
