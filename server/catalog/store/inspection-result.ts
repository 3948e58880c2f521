// What an inspection's outcome means for the catalog: the new state, and when to look again. Pure.

/** What the app's inspection says of a recording. */
export type Inspection =
  | {
      status: 'playable'
      durationSeconds: number
      /** Whether something of it is not served as it was meant. */
      isFlawed: boolean
    }
  | { status: 'unplayable'; reason: string }

/**
 * How an inspection ended; `failed`: for a reason outside of the recording, such as a disk error.
 */
export type InspectionOutcome = Inspection | { status: 'failed' }

/** Columns of the recording to be kept. */
export interface InspectionResult {
  status: 'found' | 'playable' | 'unplayable'
  durationSeconds: number | null
  reason: string | null
  flawed: 0 | 1
  retryAtMs: number
  restUntilMs: number
  attempts: number
}

/** What the result depends on beside the outcome. */
export interface InspectionContext {
  nowMs: number
  /** How long the inspection took. */
  tookMs: number
  /** When the recording counts as finished. */
  settlesAtMs: number
  /** Inspections in a row that failed before. */
  attempts: number
}

/**
 * A file that grows is inspected again after this many times what the last inspection took, within
 * bounds.
 */
const REST_FACTOR = 4
const MIN_REST_MS = 1000
const MAX_REST_MS = 30_000
/** Waits after failures: 5 s, 10 s, 20 s and so on. */
const FIRST_BACKOFF_MS = 5000
const MAX_BACKOFF_MS = 600_000
const MAX_REASON_LENGTH = 500

/**
 * The result to keep. A recording that cannot be played while it still changes stays `found`: it
 * may be on its way here, and its index comes last.
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
        flawed: outcome.isFlawed ? 1 : 0,
        retryAtMs: 0,
        attempts: 0,
      }
    case 'unplayable':
      if (isGrowing) return { ...waiting, retryAtMs: settlesAtMs, attempts: 0 }
      return {
        ...waiting,
        status: 'unplayable',
        reason: outcome.reason.slice(0, MAX_REASON_LENGTH),
        retryAtMs: 0,
        attempts: 0,
      }
    case 'failed':
      return { ...waiting, retryAtMs: nowMs + backoffMs(attempts), attempts: attempts + 1 }
  }
}

function restMs({ tookMs }: InspectionContext): number {
  return Math.min(Math.max(tookMs * REST_FACTOR, MIN_REST_MS), MAX_REST_MS)
}

function backoffMs(attempts: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** attempts, MAX_BACKOFF_MS)
}
