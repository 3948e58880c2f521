// Over the video while a seek waits for data: the frame of the storyboard at the new position.
import { useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import type { Playback } from '../../playback/playback.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import { useDelayed } from '../use-delayed.ts'
import styles from './seek-picture.module.css'
import { drawFrame } from './storyboard/draw-frame.ts'
import type { StoryboardFrame } from './storyboard/parse-storyboard.ts'
import type { SheetLoader } from './storyboard/sheet-loader.ts'
import { frameAt } from './storyboard/strip-frames.ts'
import { useSheet } from './storyboard/use-sheet.ts'

interface SeekPictureProps {
  playback: Playback
  frames: readonly StoryboardFrame[]
  loader: SheetLoader
}

/** A seek within the buffer is over by then. */
const DELAY_MS = 100

export function SeekPicture({ playback, frames, loader }: SeekPictureProps) {
  const isSeeking = usePlayback(playback, (state) => state.isSeeking)
  const isShown = useDelayed(isSeeking, DELAY_MS)
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
    <canvas ref={canvasRef} className={styles.picture} aria-hidden="true" data-seek-picture="" />,
    stage,
  )
}
