// A limit for every wait: work that takes too long is aborted, and its caller continues.

export interface TimeLimit {
  timeoutMs: number
  /** Aborts the work as well. */
  signal?: AbortSignal
  /** What the wait rejects with when the time is over. Default a TimeoutError. */
  reason?: () => unknown
}

/**
 * The result of `work`. Rejects when the time is over and, with the signal's reason, when it aborts, even if the work
 * ignores the signal that it gets. The timer ends with the work: one of AbortSignal.timeout would not.
 */
export async function withinTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, signal, reason = timeoutError }: TimeLimit,
): Promise<T> {
  signal?.throwIfAborted()
  const limit = new AbortController()
  const leave = () => limit.abort(signal?.reason)
  const timer = setTimeout(() => limit.abort(reason()), timeoutMs)
  signal?.addEventListener('abort', leave)
  const stopped = new Promise<never>((_resolve, reject) => {
    limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true })
  })
  try {
    return await Promise.race([work(limit.signal), stopped])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}

function timeoutError(): DOMException {
  return new DOMException('took too long', 'TimeoutError')
}
