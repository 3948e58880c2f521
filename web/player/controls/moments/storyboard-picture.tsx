// Over the video: the frame of the storyboard at the position, while a seek waits for data, or as
// long as the sound is played alone.
import { useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import type { Playback } from '../../playback/playback.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import { useDelayed } from '../../../ui/use-delayed.ts'
import styles from './storyboard-picture.module.css'
import { drawFrame } from './storyboard/draw-frame.ts'
import type { StoryboardFrame } from './storyboard/parse-storyboard.ts'
import type { SheetLoader } from './storyboard/sheet-loader.ts'
import { frameAt } from './storyboard/strip-frames.ts'
import { useSheet } from './storyboard/use-sheet.ts'

interface StoryboardPictureProps {
  playback: Playback
  frames: readonly StoryboardFrame[]
  loader: SheetLoader
  hasPicture: boolean
}

/** A seek within the buffer is over by then. */
const DELAY_MS = 100

export function StoryboardPicture(props: StoryboardPictureProps) {
  const { playback, frames, loader, hasPicture } = props
  const isSeeking = usePlayback(playback, (state) => state.isSeeking)
  const isLate = useDelayed(isSeeking, DELAY_MS)
  const isShown = isLate || !hasPicture
  const wanted = usePlayback(playback, ({ positionSeconds }) =>
    isShown ? frameAt(frames, positionSeconds) : undefined,
  )
  const frame = useSheet(loader, wanted, 'now')
  const canvasRef = useRef<HTMLCanvasElement>(null)
  useLayoutEffect(() => {
    const sheet = frame && loader.find(frame.sheetUrl)
    if (sheet && canvasRef.current) drawFrame(canvasRef.current, sheet, frame)
  }, [loader, frame])
  const stage = playback.video.parentElement
  if (!frame || !stage) return null
  return createPortal(
    <canvas
      ref={canvasRef}
      className={styles.picture}
      aria-hidden="true"
      data-storyboard-picture=""
    />,
    stage,
  )
}
