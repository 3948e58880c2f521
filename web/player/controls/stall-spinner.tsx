// Over the video while playback waits for data or the network, or if the browser lacks its codec.
import { describeMissingCodec } from '../playback/describe-codec.ts'
import { usePlayback } from '../playback/use-playback.ts'
import type { Playback } from '../playback/playback.ts'
import { useDelayed } from './use-delayed.ts'
import styles from './stall-spinner.module.css'

/** A seek within the buffer is over by then. */
const DELAY_MS = 500

export function StallSpinner({ playback }: { playback: Playback }) {
  const isWaiting = usePlayback(
    playback,
    // The engine of a failed session has stopped trying.
    ({ isStalled, phase }) => isStalled && (phase === 'open' || phase === 'opening'),
  )
  const isAway = usePlayback(playback, (state) => state.isUnreachable)
  const isShown = useDelayed(isWaiting, DELAY_MS)
  const codec = usePlayback(playback, (state) => state.codec)
  return (
    // Exists before the announcement, which screen readers would miss otherwise.
    <output className={styles.stall} data-stall={isShown ? '' : undefined}>
      {codec !== undefined && <span className={styles.note}>{describeMissingCodec(codec)}</span>}
      {isShown && (
        <>
          <span className={styles.spinner} data-away={isAway || undefined} />
          <span className={styles.label}>{isAway ? 'Waiting for the network…' : 'Loading…'}</span>
        </>
      )}
    </output>
  )
}
