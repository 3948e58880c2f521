// The times below the timeline: the position and the end.
import type { Playback } from '../../playback/playback.ts'
import { usePlayback } from '../../playback/use-playback.ts'
import { LIVE_SECONDS, secondsToEdge } from '../live-edge.ts'
import { formatMoment } from '../../../ui/format-moment.ts'
import { translate } from '../../../language/translate.ts'
import { timeOfDay } from './chapters.ts'
import styles from './timeline.module.css'

interface TimelineTimesProps {
  playback: Playback
  /** ISO 8601; undefined if it is unknown. */
  startTime: string | undefined
}

/** Hidden from screen readers: the slider announces the position. */
export function TimelineTimes({ playback, startTime }: TimelineTimesProps) {
  const positionSeconds = usePlayback(playback, (state) => Math.floor(state.positionSeconds))
  const durationSeconds = usePlayback(playback, (state) => state.durationSeconds) ?? 0
  const delaySeconds = usePlayback(playback, (state) => roundDelay(secondsToEdge(state)))
  return (
    <p className={styles.times} aria-hidden="true">
      <span>{describe(positionSeconds, startTime)}</span>
      <span>
        {delaySeconds !== undefined && (
          <span className={styles.liveLabel}>{describeDelay(delaySeconds)}</span>
        )}
        {describe(durationSeconds, startTime)}
      </span>
    </p>
  )
}

function roundDelay(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds)
}

function describeDelay(seconds: number): string {
  if (seconds <= LIVE_SECONDS) return translate('Live')
  return translate('Live −{delay}', { delay: formatMoment(seconds) })
}

function describe(seconds: number, startTime: string | undefined): string {
  const clock = startTime && timeOfDay(startTime, seconds)
  return clock ? `${formatMoment(seconds)} · ${clock}` : formatMoment(seconds)
}
