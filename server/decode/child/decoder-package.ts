// Finds the package with the native decoders, which an installation may lack.
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { arch, platform } from 'node:os'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

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

/**
 * Identifies the codecs of the installed package: its version and what it is built for. Empty
 * without one.
 */
export function decoderVersion(from: string = import.meta.url): string {
  const found = findPackage(PACKAGE, from)
  if (found === undefined) return ''
  const { version } = versionShape.parse(JSON.parse(readFileSync(found, 'utf8')))
  return `${PACKAGE} ${version} ${platform()}-${arch()}`
}

const versionShape = z.object({ version: z.string() })

/** Path of the package.json. */
function findPackage(name: string, base: string): string | undefined {
  try {
    return findPackageJSON(name, base)
  } catch {
    return undefined // Not installed.
  }
}
