// Copies a link to the current moment, or opens the dialog that chooses another one.
import { useState } from 'react'
import { usePlayback } from '../../playback/use-playback.ts'
import type { Playback } from '../../playback/playback.ts'
import { formatMoment } from '../../../ui/format-moment.ts'
import styles from '../controls.module.css'
import { Icon } from '../icon.tsx'
import { translate } from '../../../language/translate.ts'
import { ShareDialog } from './share-dialog.tsx'
import { useCopiedLink } from './use-copied-link.ts'

export function ShareButtons({ playback }: { playback: Playback }) {
  const seconds = usePlayback(playback, (state) => Math.floor(state.positionSeconds))
  const [isCopied, copy] = useCopiedLink()
  /** The moment at which the dialog was opened. */
  const [sharedSeconds, setSharedSeconds] = useState<number>()
  const link = translate('Copy link at {moment}', { moment: formatMoment(seconds) })
  return (
    <>
      <div className={styles.menuRoot}>
        <button
          type="button"
          className={styles.control}
          aria-label={link}
          onClick={() => copy(seconds)}
        >
          <Icon name={isCopied ? 'done' : 'link'} />
          <span aria-hidden="true">{link}</span>
        </button>
        <output className={styles.copied}>{isCopied ? translate('Link copied') : ''}</output>
      </div>
      <button
        type="button"
        className={`${styles.control} ${styles.named}`}
        aria-label={translate('Share')}
        title={translate('Share another moment')}
        onClick={() => setSharedSeconds(seconds)}
      >
        <Icon name="share" />
      </button>
      {sharedSeconds !== undefined && (
        <ShareDialog
          seconds={sharedSeconds}
          durationSeconds={playback.read().durationSeconds ?? Infinity}
          onClose={() => setSharedSeconds(undefined)}
        />
      )}
    </>
  )
}
