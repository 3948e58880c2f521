// What limits the partly playable recordings, for the operator's page: read from their indexes, a
// few per request, and cached.
import { LRUCache } from 'lru-cache'
import { withTimeout } from '../../../shared/with-timeout.ts'
import type { ImperfectRecording } from '../../library/catalog/store/imperfect.ts'
import { isAppError } from '../../base/errors.ts'
import { formatProblem } from '../../base/problem-text.ts'
import type { ProblemText } from '../../base/problem-text.ts'
import type { Library } from '../library.ts'

/** For all recordings of one page. */
const BUDGET_MS = 1000
const MAX_CACHED = 1000

/** Reads for each recording what limits it; undefined for those that are not read in time. */
export type LimitationReader = (
  recordings: readonly ImperfectRecording[],
) => Promise<(ProblemText[] | undefined)[]>

export function createLimitationReader(
  { inspect }: Pick<Library, 'inspect'>,
  signal: AbortSignal,
): LimitationReader {
  const cache = new LRUCache<string, ProblemText[]>({ max: MAX_CACHED })
  /** Those that took too long are last, so that they delay no others. */
  const slow = new LRUCache<string, true>({ max: MAX_CACHED })

  const readOne = async (recording: ImperfectRecording, timeoutMs: number): Promise<void> => {
    const key = keyOf(recording)
    try {
      const work = async (limit: AbortSignal) => inspect(recording, limit)
      const inspection = await withTimeout(work, { timeoutMs, signal })
      const limitations = inspection.status === 'playable' ? inspection.limitations : []
      cache.set(key, limitations.map(formatProblem))
    } catch (error) {
      if (isAppError(error)) cache.set(key, [])
      else slow.set(key, true)
    }
  }

  return async (recordings) => {
    const deadlineMs = performance.now() + BUDGET_MS
    const missing = recordings.filter((recording) => !cache.has(keyOf(recording)))
    const isSlow = (recording: ImperfectRecording): number => (slow.has(keyOf(recording)) ? 1 : 0)
    for (const recording of missing.toSorted((a, b) => isSlow(a) - isSlow(b))) {
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0 || signal.aborted) break
      await readOne(recording, leftMs)
    }
    return recordings.map((recording) => cache.get(keyOf(recording)))
  }
}

function keyOf({ path, version }: ImperfectRecording): string {
  return JSON.stringify([path, version])
}
