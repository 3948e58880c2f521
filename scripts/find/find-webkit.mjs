// Finds WebKitGTK, its WebDriver and a virtual screen on this machine.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { findProgram } from './find-program.mjs'

/**
 * @typedef {object} WebKitPrograms
 * @property {string} driver WebKitWebDriver
 * @property {string} browser MiniBrowser of the same WebKitGTK
 * @property {string} screen Xvfb
 */

/**
 * The programs that drive WebKitGTK, or undefined if one is missing.
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

/** Distributions install it next to the programs of the library; the newest API first. */
function miniBrowsers() {
  if (process.platform !== 'linux') return []
  const libraries = ['/usr/lib', '/usr/lib64', '/usr/libexec', ...foldersBelow('/usr/lib')]
  return libraries
    .map((folder) => path.join(folder, 'webkit2gtk-4.1', 'MiniBrowser'))
    .filter((file) => existsSync(file))
}

/**
 * Debian's libraries are one folder deeper, in a folder named after the architecture.
 * @param {string} folder
 */
function foldersBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(folder, name))
}
