// Finds a Chromium that plays H.264, by environment variable or in the usual folders.
import { findProgram } from './find-program.mjs'

const variables = ['AFTERCAST_CHROMIUM', 'CHROME_PATH']

/**
 * Path of a Chromium, or undefined. AFTERCAST_CHROMIUM and CHROME_PATH override the search.
 * @returns {string | undefined}
 */
export function findChromium() {
  return findProgram({
    variables,
    names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'],
    places: [
      '/snap/bin/chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ],
  })
}

/**
 * Path of the Chromium for tests: the headless shell of Debian if it is installed, because without
 * the user interface a test takes half the CPU time. The environment takes precedence.
 * @returns {string | undefined}
 */
export function findHeadlessChromium() {
  return findProgram({ variables, names: ['chromium-headless-shell'] }) ?? findChromium()
}
