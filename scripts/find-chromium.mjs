// Where a Chromium that plays H.264 lies on this machine: named by the environment, or found in the usual places.
import { accessSync, constants } from 'node:fs'
import path from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
const usualPlaces = [
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/**
 * Path of a Chromium, or undefined where there is none. AFTERCAST_CHROMIUM and CHROME_PATH win over the search.
 * @returns {string | undefined}
 */
export function findChromium() {
  const named = [process.env.AFTERCAST_CHROMIUM, process.env.CHROME_PATH].filter(Boolean)
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((name) => name !== '')
  const onPath = names.flatMap((name) => folders.map((folder) => path.join(folder, name)))
  return [...named, ...onPath, ...usualPlaces].find(isProgram)
}

/** @param {string | undefined} file */
function isProgram(file) {
  if (file === undefined) return false
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
