// Finds a stock Firefox on this machine.
import { findProgram } from './find-program.mjs'

/**
 * Path of a Firefox, or undefined. AFTERCAST_FIREFOX overrides the search.
 * @returns {string | undefined}
 */
export function findFirefox() {
  return findProgram({
    variables: ['AFTERCAST_FIREFOX'],
    names: ['firefox-esr', 'firefox'],
    places: ['/Applications/Firefox.app/Contents/MacOS/firefox'],
  })
}
