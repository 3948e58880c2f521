// The crowd on the timeline: a curve of the messages per minute, and buttons to the loudest ones.
import { useMemo } from 'react'
import { formatMoment } from '../../../ui/format-moment.ts'
import type { Playback } from '../../playback/playback.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import { seekTo } from '../commands.ts'
import { translate, translateCount } from '../../../language/translate.ts'
import styles from './chapter-list.module.css'
import { crowdPath, findPeaks } from './crowd.ts'
import type { Crowd } from './crowd.ts'
import timelineStyles from './timeline.module.css'

interface CrowdCurveProps {
  playback: Playback
  crowd: Crowd
}

export function CrowdCurve({ playback, crowd }: CrowdCurveProps) {
  const durationSeconds = usePlayback(playback, (state) => state.durationSeconds) ?? 0
  const path = useMemo(() => crowdPath(crowd), [crowd])
  if (durationSeconds === 0) return null
  return (
    <svg
      className={timelineStyles.crowd}
      viewBox={`0 0 ${durationSeconds} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  )
}

interface PeakListProps {
  playback: Playback
  /** Undefined until it is loaded. */
  crowd: Crowd | undefined
}

/** In short sessions there is nothing to find. */
const MIN_DURATION_SECONDS = 180

/** Its room is there before the crowd is, so that nothing moves. */
export function PeakList({ playback, crowd }: PeakListProps) {
  const isLong = usePlayback(
    playback,
    ({ durationSeconds = 0 }) => durationSeconds >= MIN_DURATION_SECONDS,
  )
  const peaks = useMemo(() => (crowd ? findPeaks(crowd) : []), [crowd])
  if (!isLong) return null
  return (
    <ol className={`${styles.list} ${styles.peaks}`} aria-label={translate('Where it got loud')}>
      {peaks.map(({ startSeconds, count }) => (
        <li key={startSeconds}>
          <button
            type="button"
            className={styles.chapter}
            title={translateCount(count, '{n} messages in a minute')}
            onClick={() => seekTo(playback, startSeconds)}
          >
            <span className={styles.time}>{formatMoment(startSeconds)}</span>
          </button>
        </li>
      ))}
    </ol>
  )
}
