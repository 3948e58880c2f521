// One frame of a storyboard: a region of a sheet.
import type { StoryboardFrame } from './parse-storyboard.ts'
import styles from './storyboard.module.css'

interface FrameImageProps {
  frame: StoryboardFrame
  /** CSS pixels per pixel of the sheet. */
  scale: number
}

export function FrameImage({ frame, scale }: FrameImageProps) {
  const { sheetUrl, x, y, width, height } = frame
  return (
    <div
      className={styles.frame}
      style={{ inlineSize: `${width * scale}px`, blockSize: `${height * scale}px` }}
    >
      <img
        src={sheetUrl}
        alt=""
        draggable={false}
        style={{ transform: `scale(${scale}) translate(${-x}px, ${-y}px)` }}
      />
    </div>
  )
}
