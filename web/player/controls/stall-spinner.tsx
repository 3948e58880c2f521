// Over the video while playback waits for data or the network, or if the browser lacks its codec.
import { describeMissingCodec } from '../playback/describe-codec.ts'
import { SOUND_ONLY } from '../playback/playlist.ts'
import { usePlayback } from '../playback/use-playback.ts'
import type { Playback } from '../playback/playback.ts'
import { translate, translateKnown } from '../../language/translate.ts'
import { useDelayed } from '../../ui/use-delayed.ts'
import styles from './stall-spinner.module.css'
import type { Quality } from './tracks/quality-menu.tsx'

/** A seek within the buffer is over by then. */
const DELAY_MS = 500

interface StallSpinnerProps {
  playback: Playback
  /** Undefined until they are known. */
  qualities: readonly Quality[] | undefined
  /** Shown for some seconds. */
  note: string | undefined
  /** The visitor chose a quality, by its id. */
  onQuality(this: void, id: string): void
}

export function StallSpinner({ playback, qualities, note, onQuality }: StallSpinnerProps) {
  const isWaiting = usePlayback(
    playback,
    // The engine of a failed session has stopped trying.
    ({ isStalled, phase }) => isStalled && (phase === 'open' || phase === 'opening'),
  )
  const isAway = usePlayback(playback, (state) => state.isUnreachable)
  const isShown = useDelayed(isWaiting, DELAY_MS)
  const codec = usePlayback(playback, (state) => state.codec)
  const sound = qualities?.find(({ id }) => id === SOUND_ONLY)
  return (
    // Exists before the announcement, which screen readers would miss otherwise.
    <output className={styles.stall} data-stall={isShown ? '' : undefined}>
      {/* With its button: it would move otherwise. */}
      {codec !== undefined && qualities && (
        <span className={styles.note}>
          {describeMissingCodec(codec)}
          {sound && (
            <button type="button" className={styles.offer} onClick={() => onQuality(sound.id)}>
              {translateKnown(sound.label)}
            </button>
          )}
        </span>
      )}
      {note !== undefined && codec === undefined && (
        <span key={note} className={`${styles.note} ${styles.brief}`}>
          {note}
        </span>
      )}
      {isShown && (
        <>
          <span className={styles.spinner} data-away={isAway || undefined} />
          <span className={styles.label}>
            {translate(isAway ? 'Waiting for the network…' : 'Loading…')}
          </span>
        </>
      )}
    </output>
  )
}
