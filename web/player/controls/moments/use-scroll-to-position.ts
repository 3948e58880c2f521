// Scrolls a timeline that is wider than the window, so that the position is visible.
import { useEffect } from 'react'
import type { RefObject } from 'react'
import type { Playback } from '../../playback/playback.ts'

/** After the visitor has scrolled. */
const PAUSE_MS = 5000
/** The position is visible between these shares of the window. */
const [FIRST_SHARE, LAST_SHARE] = [0.05, 0.95]

/** Follows playback, except while and after the visitor scrolls. */
export function useScrollToPosition(
  scrollerRef: RefObject<HTMLElement | null>,
  playback: Playback,
): void {
  useEffect(() => {
    const scroller = scrollerRef.current
    if (!scroller) return undefined
    const left = new AbortController()
    const { signal } = left
    let pausedUntilMs = 0
    const pause = () => void (pausedUntilMs = performance.now() + PAUSE_MS)
    for (const type of ['pointerdown', 'touchmove', 'touchend', 'wheel']) {
      scroller.addEventListener(type, pause, { signal, passive: true })
    }
    const follow = () => {
      const { positionSeconds, durationSeconds } = playback.read()
      const { scrollWidth, clientWidth } = scroller
      if (!durationSeconds || scrollWidth <= clientWidth) return
      if (performance.now() < pausedUntilMs) return
      const x = (positionSeconds / durationSeconds) * scrollWidth
      const share = (x - scroller.scrollLeft) / clientWidth
      if (share < FIRST_SHARE || share > LAST_SHARE) scroller.scrollLeft = x - clientWidth / 2
    }
    const stop = playback.subscribe(follow)
    follow()
    return () => {
      stop()
      left.abort()
    }
  }, [scrollerRef, playback])
}
