// What the timeline shows of a session: loaded and watched parts, chapters, live edge, position.
import type { Playback } from '../../playback/playback.ts'
import type { TimeSpan } from '../../playback/playback-state.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import type { Chapter } from './chapters.ts'
import styles from './timeline.module.css'
import { toPercent } from './timeline.ts'

interface TrackMarksProps {
  playback: Playback
  /** Watched in earlier visits. */
  watched: readonly TimeSpan[]
  chapters: readonly Chapter[]
}

/** All but the position, which changes more often. */
export function TrackMarks({ playback, watched, chapters }: TrackMarksProps) {
  const durationSeconds = usePlayback(playback, (state) => state.durationSeconds) ?? 0
  const liveEdgeSeconds = usePlayback(playback, (state) => state.liveEdgeSeconds)
  return (
    <>
      <Spans {...{ playback, watched, durationSeconds }} />
      {chapters
        // Without a duration, all would be at the start, and move.
        .filter(({ startSeconds }) => startSeconds > 0 && durationSeconds > 0)
        .map(({ startSeconds, title }) => (
          <Mark
            key={`${startSeconds} ${title}`}
            name="chapter"
            {...{ startSeconds, durationSeconds }}
          />
        ))}
      {liveEdgeSeconds !== undefined && (
        <Mark name="live" startSeconds={liveEdgeSeconds} durationSeconds={durationSeconds} />
      )}
    </>
  )
}

export function PositionMark({ playback }: Pick<TrackMarksProps, 'playback'>) {
  const positionSeconds = usePlayback(playback, (state) => state.positionSeconds)
  const durationSeconds = usePlayback(playback, (state) => state.durationSeconds) ?? 0
  const translate = toPercent(positionSeconds, durationSeconds)
  return <div className={styles.position} style={{ translate }} />
}

interface MarkProps {
  name: 'chapter' | 'live'
  startSeconds: number
  durationSeconds: number
}

function Mark({ name, startSeconds, durationSeconds }: MarkProps) {
  const insetInlineStart = toPercent(startSeconds, durationSeconds)
  return <div className={styles[name]} style={{ insetInlineStart }} />
}

interface SpansProps extends Pick<TrackMarksProps, 'playback' | 'watched'> {
  durationSeconds: number
}

function Spans({ playback, watched, durationSeconds }: SpansProps) {
  const buffered = usePlayback(playback, (state) => state.buffered)
  const played = usePlayback(playback, (state) => state.played)
  return (
    <div className={styles.spans}>
      {buffered.map((span) => (
        <Span key={`b${span.startSeconds}`} name="buffered" {...{ span, durationSeconds }} />
      ))}
      {[...watched, ...played].map((span, at) => (
        <Span key={`w${at}`} name="watched" {...{ span, durationSeconds }} />
      ))}
    </div>
  )
}

interface SpanProps {
  name: 'buffered' | 'watched'
  span: TimeSpan
  durationSeconds: number
}

function Span({ name, span, durationSeconds }: SpanProps) {
  const { startSeconds, endSeconds } = span
  return (
    <div
      className={styles[name]}
      style={{
        insetInlineStart: toPercent(startSeconds, durationSeconds),
        inlineSize: toPercent(endSeconds - startSeconds, durationSeconds),
      }}
    />
  )
}
