// The frames of a storyboard across the timeline.
import { useEffect, useRef, useState } from 'react'
import type { Playback } from '../../../playback/playback.ts'
import { usePlayback } from '../../../playback/use-playback.ts'
import { FrameImage } from './frame-image.tsx'
import type { StoryboardFrame } from './parse-storyboard.ts'
import type { SheetLoader } from './sheet-loader.ts'
import { cellFrames, STRIP_HEIGHT } from './strip-frames.ts'
import styles from './storyboard.module.css'
import { useSheet } from './use-sheet.ts'

interface StripCellsProps {
  playback: Playback
  frames: readonly StoryboardFrame[]
  loader: SheetLoader
}

export function StripCells({ playback, frames, loader }: StripCellsProps) {
  const durationSeconds = usePlayback(playback, (state) => state.durationSeconds) ?? 0
  return (
    <div className={styles.cells}>
      {cellFrames(frames, durationSeconds).map((frame, at) => (
        <StripCell key={at} frame={frame} loader={loader} />
      ))}
    </div>
  )
}

interface StripCellProps {
  /** Undefined where the storyboard has none. */
  frame: StoryboardFrame | undefined
  loader: SheetLoader
}

/** Below a banner and a large video, the strip may be just outside of the first view. */
const NEAR: IntersectionObserverInit = { rootMargin: '50%' }

/** Loads nothing before it is near. */
function StripCell({ frame, loader }: StripCellProps) {
  const cellRef = useRef<HTMLDivElement>(null)
  const [isSeen, setIsSeen] = useState(false)
  useEffect(() => {
    if (!cellRef.current || isSeen) return undefined
    const onChange: IntersectionObserverCallback = (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true)
    }
    const observer = new IntersectionObserver(onChange, NEAR)
    observer.observe(cellRef.current)
    return () => observer.disconnect()
  }, [isSeen])
  const shown = useSheet(loader, isSeen ? frame : undefined, 'later')
  return (
    <div ref={cellRef} className={styles.cell}>
      {shown && <FrameImage frame={shown} scale={STRIP_HEIGHT / shown.height} />}
    </div>
  )
}
