// Puts what the system's memory holds of a file out of it, so that the next reader waits for the
// disk. Linux only.
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import { platform } from 'node:os'
import koffi from 'koffi'

/** Evicts a file from the page cache and returns the share that is still cached; 0 is ideal. */
export type ForgetFile = (path: string) => number

const POSIX_FADV_DONTNEED = 4
const SYS_CACHESTAT = 451

/** Undefined where the system has no such calls, as all but Linux from 6.5 on. */
export function loadForgetFile(): ForgetFile | undefined {
  if (platform() !== 'linux') return undefined
  const system = koffi.load(null)
  const advise = system.func('int posix_fadvise(int, int64, int64, int)')
  const cachestat = system.func(
    'int64 syscall(int64 number, int fd, void *range, void *found, uint flags)',
  )
  const pageBytes = Number(system.func('int getpagesize()')())
  // Evicts all pages, then counts those that are cached. Reading to find out would cause
  // read-ahead.
  const range = new BigUint64Array(2)
  const found = new BigUint64Array(5)
  return (path) => {
    const descriptor = openSync(path, 'r')
    try {
      // Dirty pages cannot be evicted.
      fsyncSync(descriptor)
      advise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      if (cachestat(SYS_CACHESTAT, descriptor, range, found, 0) !== 0)
        throw new Error('the system does not report which pages are cached')
      return (Number(found[0]) * pageBytes) / statSync(path).size
    } finally {
      closeSync(descriptor)
    }
  }
}
