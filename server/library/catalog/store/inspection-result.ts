// Plans the new state of a recording, and the time of its next inspection. Pure.
import { backoffMs } from '../../../../shared/backoff.ts'
import type { UnplayableReason } from '../../../base/problem.ts'
import type { WrittenBy } from './recording-columns.ts'
import { formatStoredReason } from './stored-reason.ts'

/** The result of an inspection. */
export type Inspection =
  | {
      status: 'playable'
      durationSeconds: number
      /** Start by its parts, in milliseconds since 1970, if it is known. */
      startMs?: number | undefined
      /** Whether it has limitations. */
      isFlawed: boolean
    }
  | { status: 'unplayable'; reason: UnplayableReason }

/** `failed`: for a reason outside of the recording, such as a disk error. */
export type InspectionOutcome = Inspection | { status: 'failed' }

/** Columns of the recording. */
export type InspectionResult = WrittenBy<'inspection'>

/** What else the result depends on. */
export interface InspectionContext {
  nowMs: number
  /** How long the inspection took. */
  tookMs: number
  /** Start by the names of the session. */
  namedStartMs?: number | undefined
  /** When the recording counts as settled. */
  settlesAtMs: number
  /** Consecutive inspections that failed before. */
  attempts: number
}

/** A growing file rests for this multiple of the last inspection's duration, within bounds. */
const REST_FACTOR = 4
const MIN_REST_MS = 1000
const MAX_REST_MS = 30_000
/** Waits after failures: 5 s, 10 s, 20 s and so on. */
const RETRY = { firstMs: 5000, maxMs: 600_000 }

/**
 * The result to store. A growing recording that is unplayable stays `found`: its copy may be
 * incomplete, and the index of an MP4 comes last.
 */
export function planInspectionResult(
  outcome: InspectionOutcome,
  context: InspectionContext,
): InspectionResult {
  const { nowMs, settlesAtMs, attempts } = context
  const isGrowing = nowMs < settlesAtMs
  const waiting = {
    status: 'found',
    durationSeconds: null,
    recordedStartMs: null,
    reason: null,
    flawed: 0,
    restUntilMs: isGrowing ? nowMs + restMs(context) : 0,
  } as const
  switch (outcome.status) {
    case 'playable':
      return {
        ...waiting,
        status: 'playable',
        durationSeconds: outcome.durationSeconds,
        recordedStartMs: outcome.startMs ?? context.namedStartMs ?? null,
        flawed: outcome.isFlawed ? 1 : 0,
        retryAtMs: 0,
        attempts: 0,
      }
    case 'unplayable':
      if (isGrowing) return { ...waiting, retryAtMs: settlesAtMs, attempts: 0 }
      return {
        ...waiting,
        status: 'unplayable',
        reason: formatStoredReason(outcome.reason),
        retryAtMs: 0,
        attempts: 0,
      }
    case 'failed':
      return { ...waiting, retryAtMs: nowMs + backoffMs(attempts, RETRY), attempts: attempts + 1 }
  }
}

/** Whole milliseconds: the shared database stores nothing else. */
function restMs({ tookMs }: InspectionContext): number {
  return Math.round(Math.min(Math.max(tookMs * REST_FACTOR, MIN_REST_MS), MAX_REST_MS))
}
