// A time limit for asynchronous work.

interface TimeLimit {
  timeoutMs: number
  signal: AbortSignal
}

/**
 * Runs `work`. Rejects with a TimeoutError after `timeoutMs`, and with the signal's reason on
 * abort, even if the work ignores its signal.
 */
export async function withTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, signal }: TimeLimit,
): Promise<T> {
  signal.throwIfAborted()
  const limit = new AbortController()
  const abort = () => limit.abort(signal.reason)
  const expire = () => limit.abort(new DOMException('timed out', 'TimeoutError'))
  const timer = setTimeout(expire, timeoutMs)
  signal.addEventListener('abort', abort)
  const stopped = new Promise<never>((_resolve, reject) => {
    limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true })
  })
  try {
    return await Promise.race([work(limit.signal), stopped])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}
