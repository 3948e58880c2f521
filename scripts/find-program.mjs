// Finds a program on this machine: named by the environment, on the path, or in the usual places.
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'

/**
 * @typedef {object} ProgramSearch
 * @property {string[]} variables environment variables that may name the file; they win
 * @property {string[]} names names to find on the path
 * @property {string[]} [places] files to try last
 */

/**
 * Path of the first program found, or undefined where there is none.
 * @param {ProgramSearch} search
 * @returns {string | undefined}
 */
export function findProgram({ variables, names, places = [] }) {
  const named = variables.flatMap((variable) => process.env[variable] ?? [])
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((name) => name !== '')
  const onPath = names.flatMap((name) => folders.map((folder) => path.join(folder, name)))
  return [...named, ...onPath, ...places].find(isProgram)
}

/** @param {string} file */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
