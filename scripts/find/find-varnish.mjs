// Finds Varnish on this machine.
import { findProgram } from './find-program.mjs'

/**
 * Path of varnishd, or undefined. AFTERCAST_VARNISHD overrides the search.
 * @returns {string | undefined}
 */
export function findVarnish() {
  return findProgram({
    variables: ['AFTERCAST_VARNISHD'],
    names: ['varnishd'],
    places: ['/usr/sbin/varnishd'],
  })
}
