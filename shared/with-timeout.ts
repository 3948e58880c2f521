// A time limit for asynchronous work.

export interface TimeLimit {
  timeoutMs: number
  /** Aborts the work as well. */
  signal?: AbortSignal
  /** What the wait rejects with when the time is over. Default a TimeoutError. */
  reason?: () => unknown
}

/**
 * Runs `work`. Rejects after `timeoutMs`, and with the signal's reason on abort, even if the work
 * ignores its signal. The timer ends with the work, unlike that of AbortSignal.timeout.
 */
export async function withTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, signal, reason = timeoutError }: TimeLimit,
): Promise<T> {
  signal?.throwIfAborted()
  const limit = new AbortController()
  const abort = () => limit.abort(signal?.reason)
  const timer = setTimeout(() => limit.abort(reason()), timeoutMs)
  signal?.addEventListener('abort', abort)
  const stopped = new Promise<never>((_resolve, reject) => {
    limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true })
  })
  try {
    return await Promise.race([work(limit.signal), stopped])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

function timeoutError(): DOMException {
  return new DOMException('timed out', 'TimeoutError')
}
