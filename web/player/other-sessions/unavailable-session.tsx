// Instead of a video that cannot be played: its image if there is one, and the other sessions.
import { useState } from 'react'
import { playerPagePath, sessionKey } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { PageApi } from '../../api/page-api.ts'
import { useResource } from '../../api/use-resource.ts'
import { joinDetails } from '../../api/join-details.ts'
import { readWatchedShares } from '../../navigation/watch-history.ts'
import { CardList } from '../../ui/card-list.tsx'
import { ListStatus } from '../../ui/list-status.tsx'
import { useRenderedCount } from '../../ui/use-rendered-count.ts'
import { SessionLinkCard } from './session-link-card.tsx'
import styles from './unavailable-session.module.css'
import { useReloadWhenListed } from './use-reload-when-listed.ts'
import videoStyles from '../video-player.module.css'

interface UnavailableSessionProps {
  api: PageApi
  session: SessionReference
}

export function UnavailableSession({ api, session }: UnavailableSessionProps) {
  const { streamer } = session
  const list = useResource(api.sessions(streamer))
  useReloadWhenListed(api.playlistUrl(session))
  const [hasImage, setHasImage] = useState(true)
  const own = playerPagePath(session)
  const details = useResource(api.details(streamer))
  const [watchedShares] = useState(() => readWatchedShares())
  const others = joinDetails(
    list.status === 'loaded' ? list.value : [],
    details.status === 'loaded' ? details.value.sessions : [],
  )
    .map((item) => ({ ...item, streamer }))
    .filter((item) => playerPagePath(item) !== own)
  const count = useRenderedCount(others.length, 0)
  const heading = `More from ${streamer}`
  const cards = others
    .slice(0, count)
    .map((item) => (
      <SessionLinkCard
        key={playerPagePath(item)}
        session={item}
        watchedShare={watchedShares.get(sessionKey(item))}
        thumbnailUrl={api.thumbnailUrl(item)}
        list="sessions"
      />
    ))
  return (
    <>
      {/* React moves it to the head. */}
      <meta name="robots" content="noindex" />
      {hasImage && (
        <div className={videoStyles.stage}>
          <img
            className={videoStyles.video}
            src={api.thumbnailUrl(session)}
            alt=""
            onError={() => setHasImage(false)}
          />
        </div>
      )}
      {list.status === 'loading' && <ListStatus isLoading />}
      {cards.length > 0 && (
        <section className={styles.more}>
          <h2 className={styles.heading} title={streamer}>
            More from <bdi>{streamer}</bdi>
          </h2>
          <CardList label={heading} layout="wide" cards={cards} />
        </section>
      )}
    </>
  )
}
