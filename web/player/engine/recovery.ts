// The recovery policy after a fatal playback error. The page shows no errors, so it keeps retrying.

export interface RecoveryActions {
  /** Continues loading. */
  resume(this: void): void
  /** Loads the playlist again, at the same position. */
  reload(this: void): void
  /** Resets the decoder at the same position. */
  recoverMedia(this: void): void
  /** Resets the decoder after the segment that it could not decode. */
  skip(this: void): void
  /** Loads the playlist again, at the last position that was decodable. */
  goBack(this: void): void
  giveUp(this: void): void
  /** Whether the visitor is waiting for data. */
  isWaiting(this: void): boolean
  /** How many seconds the current source has played, in total, and the position. */
  played(this: void): { seconds: number; toSeconds: number }
  /** Called for every failure, also of a retry, unless the server has no such session. */
  onFailure(this: void, kind: Failure['kind']): void
}

export type Failure =
  /** `refused`: the server responded that the resource does not exist, rather than not at all. */
  { kind: 'network'; refused?: 'playlist' | 'segment' } | { kind: 'media' } | { kind: 'other' }

export interface Recovery {
  failed(this: void, failure: Failure): void
  /** New data was loaded: the failure is over. */
  progressed(this: void): void
  /** The buffer is empty: the visitor waits. */
  stalled(this: void): void
  dispose(this: void): void
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
/** While the visitor waits: playback resumes within two seconds of the server's return. */
const MAX_WAITING_DELAY_MS = 1000
/** Retries stop here; the visitor's return to the page starts them again. */
const GIVE_UP_AFTER_MS = 600_000
/** After this many refusals the resource is missing, even if other data loads in between. */
const REFUSAL_LIMIT = 3
/** A refusal or decoding failure counts as the one before until this much was played in between. */
const PROVEN_SECONDS = 5

/** Retries on timers, when the network returns, and when the page becomes visible. */
export function createRecovery(actions: RecoveryActions): Recovery {
  const network = createNetworkRecovery(actions)
  const recoverMedia = createMediaRecovery(actions)
  return {
    failed(failure) {
      const refused = failure.kind === 'network' ? failure.refused : undefined
      if (refused !== 'playlist') actions.onFailure(failure.kind)
      if (failure.kind === 'network') network.failed(refused)
      else if (failure.kind === 'media') recoverMedia()
      else actions.giveUp()
    },
    progressed: network.progressed,
    stalled: network.stalled,
    dispose: network.dispose,
  }
}

/**
 * Backs off 0.5, 1, 2 … 30 s (an immediate restart can loop), at most 1 s while the visitor waits.
 * Retries at once when the network returns or the page becomes visible.
 */
function createNetworkRecovery(actions: RecoveryActions) {
  const lifetime = new AbortController()
  let attempts = 0
  let refusals = { count: 0, playedSeconds: 0 }
  let firstFailureMs: number | undefined
  let pending:
    | { retry(this: void): void; timer: ReturnType<typeof setTimeout> | undefined }
    | undefined

  function failed(refused: 'playlist' | 'segment' | undefined): void {
    cancel()
    const nowMs = performance.now()
    firstFailureMs ??= nowMs
    if (refused && countRefusal() >= REFUSAL_LIMIT) return actions.giveUp()
    // A missing segment means that the recording was replaced: its new URLs are in a new playlist.
    const retry = refused === 'segment' ? actions.reload : actions.resume
    const isOver = nowMs - firstFailureMs > GIVE_UP_AFTER_MS
    const maxMs = actions.isWaiting() ? MAX_WAITING_DELAY_MS : MAX_DELAY_MS
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** attempts, maxMs)
    attempts += 1
    pending = { retry, timer: isOver ? undefined : setTimeout(retryNow, delayMs) }
  }

  function countRefusal(): number {
    const { seconds } = actions.played()
    const { count, playedSeconds } = refusals
    // A new source starts to count at 0.
    const since = seconds < playedSeconds ? seconds : seconds - playedSeconds
    refusals = { count: since > PROVEN_SECONDS ? 1 : count + 1, playedSeconds: seconds }
    return refusals.count
  }

  function retryNow(): void {
    const retry = pending?.retry
    cancel()
    retry?.()
  }

  function cancel(): void {
    clearTimeout(pending?.timer)
    pending = undefined
  }

  function progressed(): void {
    cancel()
    attempts = 0
    firstFailureMs = undefined
  }

  /** Shortens a long pending delay. */
  function stalled(): void {
    if (pending?.timer === undefined || !actions.isWaiting()) return
    clearTimeout(pending.timer)
    pending.timer = setTimeout(retryNow, MAX_WAITING_DELAY_MS)
  }

  /** The network or the visitor is back: retry with a new backoff. */
  function wake(): void {
    if (!pending || document.hidden) return
    attempts = 0
    firstFailureMs = undefined
    retryNow()
  }

  const { signal } = lifetime
  window.addEventListener('online', wake, { signal })
  document.addEventListener('visibilitychange', wake, { signal })
  signal.addEventListener('abort', cancel)
  return { failed, progressed, stalled, dispose: () => lifetime.abort() }
}

/**
 * Resets the decoder first. If that fails, the segment is corrupt, and the next ones may be: skips
 * them. Then reloads once. If the browser cannot start decoding at this position at all (open
 * GOPs), goes back to the last decodable one, then gives up if it fails again before it has passed
 * this position.
 */
function createMediaRecovery(actions: RecoveryActions): () => void {
  const { recoverMedia, skip, reload, goBack, giveUp } = actions
  const steps = [recoverMedia, skip, skip, skip, reload, goBack, giveUp]
  let step = -1
  let furthestSeconds = 0
  return () => {
    const { seconds, toSeconds } = actions.played()
    // Going back plays what has played before.
    const hasPassed = steps[step] !== goBack || toSeconds > furthestSeconds
    if (seconds > PROVEN_SECONDS && hasPassed) step = -1
    if (step < 0) furthestSeconds = 0
    furthestSeconds = Math.max(furthestSeconds, toSeconds)
    step = Math.min(step + 1, steps.length - 1)
    steps[step]?.()
  }
}
