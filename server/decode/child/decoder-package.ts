// Finds the package with the native decoders, which an installation may lack.
import { findPackageJSON } from 'node:module'
import { arch, platform } from 'node:os'
import { pathToFileURL } from 'node:url'

/** An optional peer dependency in package.json. */
const PACKAGE = 'node-av'
/** The command that adds it to an installation. */
export const DECODER_INSTALL = `npm install --global ${PACKAGE}@6`
/** Binaries for Windows are built by two compilers. */
const BINARY_SUFFIXES = ['', '-mingw', '-msvc']

/**
 * Whether node-av is installed, with its binary for this system. Loads nothing.
 *
 * @param from URL of a file of the program that would load it
 */
export function hasDecoderPackage(from: string = import.meta.url): boolean {
  const found = findPackage(PACKAGE, from)
  if (found === undefined) return false
  const base = pathToFileURL(found).href
  return BINARY_SUFFIXES.some(
    (suffix) =>
      findPackage(`@seydx/${PACKAGE}-${platform()}-${arch()}${suffix}`, base) !== undefined,
  )
}

/** Path of the package.json. */
function findPackage(name: string, base: string): string | undefined {
  try {
    return findPackageJSON(name, base)
  } catch {
    return undefined // Not installed.
  }
}
