// The slider over the session's time, with a preview of the moment under the pointer.
import { useRef, useState } from 'react'
import type { KeyboardEvent, PointerEvent, ReactNode } from 'react'
import type { Playback } from '../../playback/playback.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import { seekTo } from '../commands.ts'
import { formatMoment } from '../../../ui/format-moment.ts'
import { translate } from '../../../language/translate.ts'
import { chapterAt } from './chapters.ts'
import type { Chapter } from './chapters.ts'
import { positionAfterKey, positionAtPoint } from './timeline.ts'
import styles from './timeline.module.css'

interface TimelineSliderProps {
  playback: Playback
  chapters: readonly Chapter[]
  look: 'strip' | 'line'
  renderPreview(this: void, moment: PreviewedMoment): ReactNode
  /** Inside the track; not rendered again with each position. */
  children: ReactNode
}

export interface PreviewedMoment {
  seconds: number
  durationSeconds: number
}

export function TimelineSlider(props: TimelineSliderProps) {
  const { playback, chapters, look, renderPreview, children } = props
  const positionSeconds = usePlayback(playback, (state) => Math.floor(state.positionSeconds))
  const durationSeconds = usePlayback(playback, (state) => state.durationSeconds) ?? 0
  const trackRef = useRef<HTMLDivElement>(null)
  /** Under the pointer; undefined if it is elsewhere. */
  const [pointedSeconds, setPointedSeconds] = useState<number>()
  const [isFocused, setIsFocused] = useState(false)

  function point(event: PointerEvent): number {
    const box = trackRef.current?.getBoundingClientRect() ?? { left: 0, width: 0 }
    const seconds = positionAtPoint(event.clientX, box, durationSeconds)
    setPointedSeconds(seconds)
    return seconds
  }

  function startDrag(event: PointerEvent<HTMLDivElement>): void {
    if (event.button !== 0) return
    event.currentTarget.setPointerCapture(event.pointerId)
    point(event)
  }

  function endDrag(event: PointerEvent<HTMLDivElement>): void {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    seekTo(playback, point(event))
    if (event.pointerType !== 'mouse') setPointedSeconds(undefined)
  }

  function handleKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    setIsFocused(true)
    // The store gets a seek only after the next key.
    const from = playback.video.currentTime
    const target = positionAfterKey(event.key, { positionSeconds: from, durationSeconds })
    if (target === undefined) return
    event.preventDefault()
    seekTo(playback, target)
  }

  const moment = formatMoment(positionSeconds)
  const chapter = chapterAt(chapters, positionSeconds)
  const previewedSeconds = pointedSeconds ?? (isFocused ? positionSeconds : undefined)
  return (
    <div className={styles.timeline} data-look={look}>
      <div
        className={styles.slider}
        // An input of type range has no room for frames, spans and marks.
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
        role="slider"
        tabIndex={0}
        aria-label={translate('Position')}
        aria-valuemin={0}
        aria-valuemax={Math.ceil(durationSeconds)}
        aria-valuenow={positionSeconds}
        aria-valuetext={chapter ? `${moment}, ${chapter.title}` : moment}
        onKeyDown={handleKey}
        onFocus={({ currentTarget }) => setIsFocused(currentTarget.matches(':focus-visible'))}
        onBlur={() => setIsFocused(false)}
        onPointerDown={startDrag}
        onPointerMove={point}
        onPointerUp={endDrag}
        onPointerCancel={() => setPointedSeconds(undefined)}
        onPointerLeave={() => setPointedSeconds(undefined)}
      >
        <div ref={trackRef} className={styles.track}>
          {children}
        </div>
      </div>
      {previewedSeconds !== undefined &&
        renderPreview({ seconds: previewedSeconds, durationSeconds })}
    </div>
  )
}
