// How much of a recording to load ahead: first what the next picture needs, so that nothing competes with it, then more
// the longer the visitor stays.

/** The part of hls.js's settings that says how much is loaded ahead of the position. */
export interface BufferAllowance {
  /** Seconds. */
  maxBufferLength: number
  /** Bytes; where the bit rate is known, more seconds than the above if it leaves room for them. */
  maxBufferSize: number
}

const ENOUGH_FOR_A_PICTURE: BufferAllowance = { maxBufferLength: 2, maxBufferSize: 0 }
/** Who looks here and there does not wait, and costs neither side what is not seen. */
const ENOUGH_FOR_A_LOOK: BufferAllowance = { maxBufferLength: 12, maxBufferSize: 0 }
const PLENTY: BufferAllowance = { maxBufferLength: 30, maxBufferSize: 60_000_000 }
/** A decoder that has no picture by then may be waiting for more than was thought enough. */
const PATIENCE_MS = 3000
const LOOK_MS = 10_000

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
  let timer: ReturnType<typeof setTimeout> | undefined

  function change(allowance: BufferAllowance): void {
    clearTimeout(timer)
    if (signal.aborted || current === allowance) return
    current = allowance
    onChange(allowance)
  }

  function changeLater(allowance: BufferAllowance, delayMs: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => change(allowance), delayMs)
  }

  function grow(): void {
    // Not after a halt in between: who had more needs more.
    if (current !== ENOUGH_FOR_A_PICTURE) return
    change(ENOUGH_FOR_A_LOOK)
    changeLater(PLENTY, LOOK_MS)
  }

  const on = (type: string, act: () => void): void => {
    video.addEventListener(type, act, { signal })
  }
  on('play', () => {
    if (!hasPlayed) changeLater(PLENTY, PATIENCE_MS)
  })
  on('playing', () => {
    hasPlayed = true
    grow()
  })
  on('seeking', () => {
    if (!hasPlayed) return
    change(ENOUGH_FOR_A_PICTURE)
    changeLater(PLENTY, PATIENCE_MS)
  })
  on('seeked', () => {
    if (hasPlayed) grow()
  })
  signal.addEventListener('abort', () => clearTimeout(timer))
  return () => current
}
