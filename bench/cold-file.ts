// Puts what the system's memory holds of a file out of it, so that the next reader waits for the disk. Linux only.
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import koffi from 'koffi'
import { loadPageCache } from '../server/storage/page-cache.ts'

/** Forgets a file, and answers what share of it is in memory all the same: 0 where all is well. */
export type ForgetFile = (path: string) => number

const POSIX_FADV_DONTNEED = 4
/** Places at which it is looked whether the file is forgotten. */
const PROBES = 64

/** Undefined where the system has no such call, as on all but Linux. */
export async function loadForgetFile(): Promise<ForgetFile | undefined> {
  const pageCache = await loadPageCache()
  if (pageCache === undefined) return undefined
  const advise = koffi.load(null).func('int posix_fadvise(int, int64, int64, int)')
  return (path) => {
    const descriptor = openSync(path, 'r')
    try {
      // What is not on the disk yet cannot be forgotten.
      fsyncSync(descriptor)
      advise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      const step = statSync(path).size / PROBES
      const probes = Array.from({ length: PROBES }, (_, i) => Math.floor(i * step))
      const held = probes.filter((at) => pageCache.read(descriptor, [new Uint8Array(1)], at) > 0)
      return held.length / PROBES
    } finally {
      closeSync(descriptor)
    }
  }
}
