// What is at one moment of the timeline: frame, time, time of day, chapter.
import type { CSSProperties } from 'react'
import { formatMoment } from '../../../ui/format-moment.ts'
import { Name } from '../../../ui/name.tsx'
import { chapterAt, timeOfDay } from './chapters.ts'
import type { Chapter } from './chapters.ts'
import styles from './preview.module.css'
import { FrameImage } from './storyboard/frame-image.tsx'
import type { StoryboardFrame } from './storyboard/parse-storyboard.ts'
import type { SheetLoader } from './storyboard/sheet-loader.ts'
import { frameAt } from './storyboard/strip-frames.ts'
import { useSheet } from './storyboard/use-sheet.ts'

interface PreviewProps {
  seconds: number
  durationSeconds: number
  chapters: readonly Chapter[]
  /** ISO 8601; undefined if it is unknown. */
  startTime: string | undefined
  frames: readonly StoryboardFrame[]
  loader: SheetLoader
}

/** The largest frame, in CSS pixels. */
const MAX_WIDTH = 192
const MAX_HEIGHT = 128

export function Preview(props: PreviewProps) {
  const { seconds, durationSeconds, chapters, startTime, frames, loader } = props
  const wanted = frameAt(frames, seconds)
  const frame = useSheet(loader, wanted, 'now')
  const chapter = chapterAt(chapters, seconds)
  const clock = startTime && timeOfDay(startTime, seconds)
  const share = durationSeconds > 0 ? Math.min(seconds / durationSeconds, 1) : 0
  const x = `${(share * 100).toFixed(3)}cqi`
  const position: CSSProperties & Record<'--x', string> = { '--x': x }
  return (
    // The slider announces the position.
    <div className={styles.row} aria-hidden="true">
      <div className={styles.preview} style={position} data-preview="">
        {wanted && <PreviewFrame wanted={wanted} frame={frame} />}
        <p className={styles.time}>
          {formatMoment(seconds)}
          {clock && <span className={styles.clock}> · {clock}</span>}
        </p>
        {/* A new element per chapter: its centre would move, which counts as a layout shift. */}
        {chapter && (
          <Name key={chapter.startSeconds} className={styles.chapter}>
            {chapter.title}
          </Name>
        )}
      </div>
    </div>
  )
}

interface PreviewFrameProps {
  /** Determines the size. */
  wanted: StoryboardFrame
  /** What is loaded. */
  frame: StoryboardFrame | undefined
}

function PreviewFrame({ wanted: { width, height }, frame }: PreviewFrameProps) {
  const scale = Math.min(MAX_WIDTH / width, MAX_HEIGHT / height)
  return (
    <div
      className={styles.frame}
      style={{ inlineSize: `${width * scale}px`, blockSize: `${height * scale}px` }}
    >
      {frame && <FrameImage frame={frame} scale={scale} />}
    </div>
  )
}
