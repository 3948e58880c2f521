// How much of a recording to load ahead: first what the next picture needs, so that nothing competes with it, then the rest.

/** The part of hls.js's settings that says how much is loaded ahead of the position. */
export interface BufferAllowance {
  /** Seconds. */
  maxBufferLength: number
  /** Bytes; where the bit rate is known, more seconds than the above if it leaves room for them. */
  maxBufferSize: number
}

const ENOUGH_FOR_A_PICTURE: BufferAllowance = { maxBufferLength: 2, maxBufferSize: 0 }
const PLENTY: BufferAllowance = { maxBufferLength: 30, maxBufferSize: 60_000_000 }
/** A decoder that has no picture by then may be waiting for more than was thought enough. */
const PATIENCE_MS = 3000

/**
 * Little until playback begins, and again from a seek until there is a picture. `onChange` is called with every
 * change until the signal aborts; the answered function tells what holds now.
 */
export function watchBufferAllowance(
  video: HTMLVideoElement,
  signal: AbortSignal,
  onChange: (allowance: BufferAllowance) => void,
): () => BufferAllowance {
  let current = ENOUGH_FOR_A_PICTURE
  let hasPlayed = false
  let patience: ReturnType<typeof setTimeout> | undefined

  function change(allowance: BufferAllowance): void {
    clearTimeout(patience)
    if (signal.aborted || current === allowance) return
    current = allowance
    onChange(allowance)
  }

  function loosenInTime(): void {
    clearTimeout(patience)
    patience = setTimeout(() => change(PLENTY), PATIENCE_MS)
  }

  video.addEventListener('play', () => hasPlayed || loosenInTime(), { signal })
  video.addEventListener(
    'playing',
    () => {
      hasPlayed = true
      change(PLENTY)
    },
    { signal },
  )
  video.addEventListener(
    'seeking',
    () => {
      if (!hasPlayed) return
      change(ENOUGH_FOR_A_PICTURE)
      loosenInTime()
    },
    { signal },
  )
  video.addEventListener('seeked', () => hasPlayed && change(PLENTY), { signal })
  signal.addEventListener('abort', () => clearTimeout(patience))
  return () => current
}
