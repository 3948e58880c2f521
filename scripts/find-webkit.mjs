// Where WebKitGTK, its WebDriver and a screen without a monitor lie on this machine.
import { globSync } from 'node:fs'
import { findProgram } from './find-program.mjs'

/**
 * @typedef {object} WebKitPrograms
 * @property {string} driver WebKitWebDriver
 * @property {string} browser MiniBrowser of the same WebKitGTK
 * @property {string} screen Xvfb
 */

/**
 * The programs that drive WebKitGTK, or undefined where one is missing.
 * @returns {WebKitPrograms | undefined}
 */
export function findWebKit() {
  const driver = findProgram({ variables: ['AFTERCAST_WEBKIT_DRIVER'], names: ['WebKitWebDriver'] })
  const browser = findProgram({
    variables: ['AFTERCAST_WEBKIT_BROWSER'],
    names: [],
    places: miniBrowsers(),
  })
  const screen = findProgram({ variables: [], names: ['Xvfb'] })
  return driver && browser && screen ? { driver, browser, screen } : undefined
}

/** Distributions put it beside the library's own programs; the newest interface first. */
function miniBrowsers() {
  if (process.platform !== 'linux') return []
  const patterns = [
    '/usr/lib/*/webkit2gtk-4.1',
    '/usr/lib*/webkit2gtk-4.1',
    '/usr/libexec/webkit2gtk-4.1',
  ]
  return patterns.flatMap((folder) => globSync(`${folder}/MiniBrowser`))
}
