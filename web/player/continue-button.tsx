// Offers the moment at which this visitor's last visit of the session ended.
import { useState } from 'react'
import type { SessionReference } from '../../shared/paths.ts'
import { canContinueAt, readWatched } from '../navigation/watch-history.ts'
import { translate } from '../language/translate.ts'
import { play, seekTo } from './controls/commands.ts'
import styles from './video-player.module.css'
import { formatMoment } from '../ui/format-moment.ts'
import type { Playback } from './playback/playback.ts'
import { usePlayback } from './playback/use-playback.ts'

interface ContinueButtonProps {
  playback: Playback
  /** A new component per session. */
  session: SessionReference
}

export function ContinueButton({ playback, session }: ContinueButtonProps) {
  // Read once: this visit changes it.
  const [seconds] = useState(() => readWatched(session)?.positionSeconds ?? 0)
  const [isDone, setIsDone] = useState(false)
  const isOffered = usePlayback(
    playback,
    ({ durationSeconds = 0, positionSeconds }) =>
      canContinueAt(seconds, durationSeconds) && positionSeconds < seconds,
  )
  if (!isOffered || isDone) return null

  function resume(): void {
    setIsDone(true)
    seekTo(playback, seconds)
    play(playback.video)
    // The button disappears, and its focus with it.
    playback.video.focus({ preventScroll: true })
  }

  return (
    <button type="button" className={styles.resume} onClick={resume}>
      {translate('Continue at {moment}', { moment: formatMoment(seconds) })}
    </button>
  )
}
