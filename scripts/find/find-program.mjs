// Finds a program by environment variable, on PATH, or in the usual folders.
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'

/**
 * @typedef {object} ProgramSearch
 * @property {string[]} variables environment variables that may name the file; they take precedence
 * @property {string[]} names names to search on PATH
 * @property {string[]} [places] files to check last
 */

/**
 * Path of the first program found, or undefined if there is none.
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
