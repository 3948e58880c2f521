// Decides what to do after a fatal failure of playback. Nothing is ever said to the visitor, so silence must mean trying.

export interface RecoveryActions {
  /** Goes on loading where it stopped. */
  resume(this: void): void
  /** Starts over from the playlist, at the same position. */
  reload(this: void): void
  /** Resets the decoder at the same position. */
  recoverMedia(this: void): void
  /** Resets the decoder behind what it could not decode. */
  skip(this: void): void
  /** Starts over from where decoding began when it last went well. */
  goBack(this: void): void
  giveUp(this: void): void
  /** Whether the visitor wants to see what is not there yet. */
  isAwaited(this: void): boolean
}

export type Failure =
  /** `refused`: the server answered that there is no such thing, rather than not at all. */
  { kind: 'network'; refused?: 'playlist' | 'piece' } | { kind: 'media' } | { kind: 'other' }

export interface Recovery {
  failed(this: void, failure: Failure): void
  /** Something new was loaded: the trouble is over. */
  progressed(this: void): void
  /** What was loaded has run out: from now on the visitor waits. */
  ranDry(this: void): void
  dispose(this: void): void
}

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000
/** While the picture stands still: a server that is back is to be seen within two seconds. */
const LONGEST_AWAITED_DELAY_MS = 1000
/** Nobody waits longer before a still picture; who comes back after that starts it again. */
const GIVE_UP_AFTER_MS = 600_000
/** What the server refuses so often within `REFUSAL_WINDOW_MS` is not there, whatever else loads in between. */
const REFUSAL_LIMIT = 3
const REFUSAL_WINDOW_MS = 60_000
/** Another decoding failure within this is the same one. */
const SAME_FAILURE_MS = 5000

/** A policy with a life: it waits for timers, for the network's return and for the visitor's. */
export function createRecovery(actions: RecoveryActions): Recovery {
  const network = createNetworkRecovery(actions)
  const recoverMedia = createMediaRecovery(actions)
  return {
    failed(failure) {
      if (failure.kind === 'network') network.failed(failure.refused)
      else if (failure.kind === 'media') recoverMedia()
      else actions.giveUp()
    },
    progressed: network.progressed,
    ranDry: network.ranDry,
    dispose: network.dispose,
  }
}

/**
 * Backs off 0.5, 1, 2 … 30 s (an immediate restart can loop), but no further than a second while the visitor waits, and
 * tries at once when network or visitor come back.
 */
function createNetworkRecovery(actions: RecoveryActions) {
  const life = new AbortController()
  let attempts = 0
  let refusals: number[] = []
  let firstFailureMs: number | undefined
  let pending:
    | { retry(this: void): void; timer: ReturnType<typeof setTimeout> | undefined }
    | undefined

  function failed(refused: 'playlist' | 'piece' | undefined): void {
    cancel()
    const nowMs = performance.now()
    firstFailureMs ??= nowMs
    refusals = refusals.filter((atMs) => nowMs - atMs < REFUSAL_WINDOW_MS)
    if (refused && refusals.push(nowMs) >= REFUSAL_LIMIT) return actions.giveUp()
    // A piece that is gone means that the recording was replaced: only a new playlist names what there is.
    const retry = refused === 'piece' ? actions.reload : actions.resume
    const isOver = nowMs - firstFailureMs > GIVE_UP_AFTER_MS
    const longestMs = actions.isAwaited() ? LONGEST_AWAITED_DELAY_MS : LONGEST_DELAY_MS
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** attempts, longestMs)
    attempts += 1
    pending = { retry, timer: isOver ? undefined : setTimeout(retryNow, delayMs) }
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

  /** What is tried at the end of a long pause is tried soon. */
  function ranDry(): void {
    if (pending?.timer === undefined || !actions.isAwaited()) return
    clearTimeout(pending.timer)
    pending.timer = setTimeout(retryNow, LONGEST_AWAITED_DELAY_MS)
  }

  /** Network or visitor are back: the next try is a first one. */
  function wake(): void {
    if (!pending || document.hidden) return
    attempts = 0
    firstFailureMs = undefined
    retryNow()
  }

  const { signal } = life
  window.addEventListener('online', wake, { signal })
  document.addEventListener('visibilitychange', wake, { signal })
  signal.addEventListener('abort', cancel)
  return { failed, progressed, ranDry, dispose: () => life.abort() }
}

/**
 * First the decoder is reset. If it fails again, what is there is damaged, and so may be what follows; then all is built
 * anew once. Where nothing helps, the browser cannot begin there at all (decisions/012): back to where it could. Then it is over.
 */
function createMediaRecovery(actions: RecoveryActions): () => void {
  const { recoverMedia, skip, reload, goBack, giveUp } = actions
  const steps = [recoverMedia, skip, skip, skip, reload, goBack, giveUp]
  let step = 0
  let lastMs = -Infinity
  return () => {
    const nowMs = performance.now()
    step = nowMs - lastMs > SAME_FAILURE_MS ? 0 : Math.min(step + 1, steps.length - 1)
    lastMs = nowMs
    steps[step]?.()
  }
}
