// Over the video after its end: what to watch next. Nothing starts by itself.
import { Link } from '../../ui/link.tsx'
import { playerPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { translate } from '../../language/translate.ts'
import { FilledText } from '../../language/filled-text.tsx'
import { Name } from '../../ui/name.tsx'
import { play, seekTo } from './commands.ts'
import styles from './end-card.module.css'
import { Icon } from './icon.tsx'
import type { Neighbours } from './neighbours.ts'
import type { Playback } from '../playback/playback.ts'

interface EndCardProps {
  playback: Playback
  neighbours: Neighbours
  thumbnailUrl(this: void, session: SessionReference): string
}

/** The next session, or the older ones if there is none. */
export function EndCard({ playback, neighbours, thumbnailUrl }: EndCardProps) {
  const { next, older } = neighbours
  const sessions = next ? [next] : older

  function replay(): void {
    seekTo(playback, 0)
    play(playback.video)
    // The button disappears, and its focus with it.
    playback.video.focus({ preventScroll: true })
  }

  return (
    <div className={styles.card} data-end-card="">
      {sessions.length > 0 && (
        <p className={styles.heading}>{translate(next ? 'Up next' : 'Earlier sessions')}</p>
      )}
      <div className={styles.sessions}>
        {sessions.map((session) => (
          <Link
            key={playerPagePath(session)}
            className={styles.session}
            to={playerPagePath(session)}
          >
            <img
              src={thumbnailUrl(session)}
              alt=""
              onError={({ currentTarget }) => void (currentTarget.hidden = true)}
            />
            {session.title && <Name className={styles.title}>{session.title}</Name>}
            <Name>{session.date}</Name>
            <span>
              <FilledText text="Session {id}" values={{ id: <Name>{session.sessionId}</Name> }} />
            </span>
          </Link>
        ))}
      </div>
      <button type="button" className={styles.replay} onClick={replay}>
        <Icon name="replay" />
        {translate('Watch again')}
      </button>
    </div>
  )
}
