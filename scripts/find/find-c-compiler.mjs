// Finds a C compiler on this machine, for the test of failing disks.
import { findProgram } from './find-program.mjs'

/**
 * Path of a C compiler, or undefined. AFTERCAST_CC overrides the search.
 * @returns {string | undefined}
 */
export function findCCompiler() {
  return findProgram({ variables: ['AFTERCAST_CC'], names: ['tcc', 'cc'] })
}
