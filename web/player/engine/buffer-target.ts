// How far ahead hls.js buffers: first only what the next frame needs, so that no other download
// competes with it, then more while the visitor stays.

/** The settings of hls.js for the length of the forward buffer. */
export interface BufferTarget {
  /** In seconds. */
  maxBufferLength: number
  /** In bytes; if the bit rate is known, hls.js buffers longer than the above up to this size. */
  maxBufferSize: number
}

const FIRST_FRAME: BufferTarget = { maxBufferLength: 1, maxBufferSize: 0 }
/** A visitor who skips around does not need more, and downloads little in vain. */
const BROWSING: BufferTarget = { maxBufferLength: 12, maxBufferSize: 0 }
const WATCHING: BufferTarget = { maxBufferLength: 30, maxBufferSize: 60_000_000 }
/** Without a frame by then, the decoder may need more than a second of media. */
const FIRST_FRAME_TIMEOUT_MS = 3000
/** A visitor who plays for this long is watching. */
const WATCHING_AFTER_MS = 10_000

/**
 * The target is small until playback starts, and again from a seek to the next frame. Calls
 * `onChange` on every change until the signal aborts; the returned function gives the current one.
 */
export function adaptBufferTarget(
  video: HTMLVideoElement,
  signal: AbortSignal,
  onChange: (target: BufferTarget) => void,
): () => BufferTarget {
  let current = FIRST_FRAME
  let hasPlayed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  function change(target: BufferTarget): void {
    clearTimeout(timer)
    if (signal.aborted || current === target) return
    current = target
    onChange(target)
  }

  function changeLater(target: BufferTarget, delayMs: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => change(target), delayMs)
  }

  function grow(): void {
    // A stall must not shrink a larger target.
    if (current !== FIRST_FRAME) return
    change(BROWSING)
    changeLater(WATCHING, WATCHING_AFTER_MS)
  }

  const on = (type: string, act: () => void): void => {
    video.addEventListener(type, act, { signal })
  }
  on('play', () => {
    if (!hasPlayed) changeLater(WATCHING, FIRST_FRAME_TIMEOUT_MS)
  })
  on('playing', () => {
    hasPlayed = true
    grow()
  })
  on('seeking', () => {
    if (!hasPlayed) return
    change(FIRST_FRAME)
    changeLater(WATCHING, FIRST_FRAME_TIMEOUT_MS)
  })
  on('seeked', () => {
    if (hasPlayed) grow()
  })
  signal.addEventListener('abort', () => clearTimeout(timer))
  return () => current
}
