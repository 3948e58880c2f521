// A bound on every wait: work that takes too long is told so and waited for no longer.

interface TimeLimit {
  timeoutMs: number
  signal: AbortSignal
}

/**
 * What `work` answers. Rejects with a TimeoutError after `timeoutMs`, and with the signal's reason
 * when it aborts, even where the work does not heed the signal that it is given.
 */
export async function withinTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, signal }: TimeLimit,
): Promise<T> {
  signal.throwIfAborted()
  const limit = new AbortController()
  const leave = () => limit.abort(signal.reason)
  const expire = () => limit.abort(new DOMException('took too long', 'TimeoutError'))
  const timer = setTimeout(expire, timeoutMs)
  signal.addEventListener('abort', leave)
  const stopped = new Promise<never>((_resolve, reject) => {
    limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true })
  })
  try {
    return await Promise.race([work(limit.signal), stopped])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  }
}
