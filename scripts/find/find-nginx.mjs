// Finds nginx on this machine.
import { findProgram } from './find-program.mjs'

/**
 * Path of nginx, or undefined. AFTERCAST_NGINX overrides the search.
 * @returns {string | undefined}
 */
export function findNginx() {
  return findProgram({
    variables: ['AFTERCAST_NGINX'],
    names: ['nginx'],
    places: ['/usr/sbin/nginx'],
  })
}
