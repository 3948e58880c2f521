// Storage whose calls end although the system does not end them, as those to a network mount may. A
// call that hangs keeps a thread of libuv, of which there are four.
import { withTimeout } from '../../../shared/with-timeout.ts'
import { AppError } from '../../base/errors.ts'
import type { Storage } from './storage.ts'

/** A folder of a million files on a slow disk takes minutes. */
const TIMEOUT_MS = 600_000
/** With as many calls that have not ended, no other call begins. */
const MAX_HANGING = 2

/**
 * Lists and stats with a time limit, and until the signal aborts: whoever waits continues then, and
 * never later. A path whose call hangs is not called again before that has ended.
 */
export function limitCalls(storage: Storage): (signal: AbortSignal) => Storage {
  const hanging = new Set<string>()

  const limited = (signal: AbortSignal) => {
    return async <T>(path: string, call: () => Promise<T>): Promise<T> => {
      signal.throwIfAborted()
      if (hanging.has(path) || hanging.size >= MAX_HANGING) throw noResponse()
      let hasEnded = false
      const work = async (): Promise<T> => {
        try {
          return await call()
        } finally {
          hasEnded = true
          hanging.delete(path)
        }
      }
      try {
        return await withTimeout(work, { timeoutMs: TIMEOUT_MS, reason: noResponse, signal })
      } finally {
        if (!hasEnded) hanging.add(path)
      }
    }
  }

  return (signal) => {
    const limit = limited(signal)
    return {
      list: async (folder, options) => limit(folder, async () => storage.list(folder, options)),
      stat: async (path, options) => limit(path, async () => storage.stat(path, options)),
      open: async (path, options) => storage.open(path, options),
      watch: async (onChange, stop) => storage.watch(onChange, stop),
    }
  }
}

function noResponse(): AppError {
  return new AppError('busy', 'the library does not respond')
}
