// Finds a Chromium that plays H.264, by environment variable or in the usual folders.
import { findProgram } from './find-program.mjs'

/**
 * Path of a Chromium, or undefined. AFTERCAST_CHROMIUM and CHROME_PATH override the search.
 * @returns {string | undefined}
 */
export function findChromium() {
  return findProgram({
    variables: ['AFTERCAST_CHROMIUM', 'CHROME_PATH'],
    names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'],
    places: [
      '/snap/bin/chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ],
  })
}
