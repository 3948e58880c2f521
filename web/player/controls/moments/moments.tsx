// The session's time below the video: frames, chapters, what was watched, and a slider that seeks.
import { useEffect, useState } from 'react'
import type { Playback } from '../../playback/playback.ts'
import type { TimeSpan } from '../../playback/playback-state.ts'
import type { SessionChat } from '../../chat/use-chat.ts'
import { translate } from '../../../language/translate.ts'
import { ChapterList } from './chapter-list.tsx'
import type { Chapter } from './chapters.ts'
import { CrowdCurve, PeakList } from './crowd-marks.tsx'
import styles from './timeline.module.css'
import { Preview } from './preview.tsx'
import { StoryboardPicture } from './storyboard-picture.tsx'
import { SheetLoader } from './storyboard/sheet-loader.ts'
import { StripCells } from './storyboard/strip-cells.tsx'
import type { Storyboard } from './storyboard/use-storyboard.ts'
import { TimelineSlider } from './timeline-slider.tsx'
import { TimelineTimes } from './timeline-times.tsx'
import { PositionMark, TrackMarks } from './track-marks.tsx'

interface MomentsProps {
  playback: Playback
  storyboard: Storyboard
  /** Watched in earlier visits. */
  watched: readonly TimeSpan[]
  /** In order; none until they are loaded. */
  chapters: readonly Chapter[]
  /** ISO 8601; undefined if it is unknown. */
  startTime: string | undefined
  /** Undefined without a chat. */
  chat: Pick<SessionChat, 'crowd'> | undefined
  /** Whether the video is played, not its sound alone. */
  hasPicture: boolean
}

export function Moments(props: MomentsProps) {
  const { playback, storyboard, watched, chapters, startTime, chat, hasPicture } = props
  const { frames = [], room } = storyboard
  const [loader] = useState(() => new SheetLoader())
  useEffect(() => () => loader.dispose(), [loader])
  useEffect(() => loader.retain(new Set(frames.map(({ sheetUrl }) => sheetUrl))), [loader, frames])
  const hasStrip = room === 'strip' && storyboard.frames?.length !== 0
  return (
    <section className={styles.moments} aria-label={translate('Moments')} data-room={room}>
      <TimelineSlider
        playback={playback}
        chapters={chapters}
        look={hasStrip ? 'strip' : 'line'}
        renderPreview={(moment) => (
          <Preview {...{ ...moment, chapters, startTime, frames, loader }} />
        )}
      >
        {hasStrip && <StripCells {...{ playback, frames, loader }} />}
        {chat?.crowd && <CrowdCurve playback={playback} crowd={chat.crowd} />}
        <TrackMarks {...{ playback, watched, chapters }} />
        <PositionMark playback={playback} />
      </TimelineSlider>
      <StoryboardPicture {...{ playback, frames, loader, hasPicture }} />
      <TimelineTimes playback={playback} startTime={startTime} />
      {chapters.length > 0 && <ChapterList playback={playback} chapters={chapters} />}
      {chat && <PeakList playback={playback} crowd={chat.crowd} />}
    </section>
  )
}
