// Instead of a video that cannot be played: a strip with its image, and the other sessions.
import { useEffect, useState } from 'react'
import { playerPagePath, sessionKey } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { PageApi } from '../../api/page-api.ts'
import { useResource } from '../../api/use-resource.ts'
import { joinDetails } from '../../api/join-details.ts'
import { readWatchedShares } from '../../navigation/watch-history.ts'
import { CardList } from '../../ui/card-list.tsx'
import { Link } from '../../ui/link.tsx'
import { ListStatus } from '../../ui/list-status.tsx'
import { useRenderedCount } from '../../ui/use-rendered-count.ts'
import { useDelayed } from '../../ui/use-delayed.ts'
import { translate } from '../../language/translate.ts'
import { FilledText } from '../../language/filled-text.tsx'
import { Name } from '../../ui/name.tsx'
import { SessionLinkCard } from './session-link-card.tsx'
import buttonStyles from '../../ui/button.module.css'
import styles from './unavailable-session.module.css'

interface UnavailableSessionProps {
  api: PageApi
  session: SessionReference
  /** Called with the URL of the playlist once what is below moves no more. */
  onSettled(this: void, source: string): void
}

/** How long the cards wait for their titles, which make them taller. */
const DETAILS_WAIT_MS = 500

export function UnavailableSession({ api, session, onSettled }: UnavailableSessionProps) {
  const { streamer } = session
  const list = useResource(api.sessions(streamer))
  const source = api.playlistUrl(session)
  useReloadWhenListed(source)
  const [hasImage, setHasImage] = useState(true)
  const own = playerPagePath(session)
  const details = useResource(api.details(streamer))
  const hasWaited = useDelayed(list.status === 'loaded', DETAILS_WAIT_MS)
  const isSettled =
    list.status === 'failed' ||
    (list.status === 'loaded' && (hasWaited || details.status !== 'loading'))
  useEffect(() => {
    if (isSettled) onSettled(source)
  }, [isSettled, onSettled, source])
  const [watchedShares] = useState(() => readWatchedShares())
  const others = joinDetails(
    list.status === 'loaded' ? list.value : [],
    details.status === 'loaded' ? details.value.sessions : [],
  )
    .map((item) => ({ ...item, streamer }))
    .filter((item) => playerPagePath(item) !== own)
  const count = useRenderedCount(others.length, 0)
  const heading = translate('More from {streamer}', { streamer })
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
      <div className={styles.strip}>
        {hasImage && (
          <img src={api.thumbnailUrl(session)} alt="" onError={() => setHasImage(false)} />
        )}
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M8.5 5.5v13l10-6.5zM4 4l16 16" />
        </svg>
      </div>
      {!isSettled && <ListStatus isLoading />}
      {isSettled && cards.length === 0 && (
        <Link className={buttonStyles.primary} to="/">
          {translate('All streamers')}
        </Link>
      )}
      {isSettled && cards.length > 0 && (
        <section>
          <h2 className={styles.heading} title={streamer}>
            <FilledText
              text="More from {streamer}"
              values={{ streamer: <Name>{streamer}</Name> }}
            />
          </h2>
          <CardList label={heading} layout="wide" cards={cards} />
        </section>
      )}
    </>
  )
}

/** The pauses before each check; a session that is unknown after them stays so. */
const PAUSES_MS = [5000, 10_000, 20_000, 40_000]

/**
 * Reloads the page once the session's playlist can be loaded: a link may be opened before its
 * recording is listed, which takes seconds.
 */
function useReloadWhenListed(playlistUrl: string): void {
  useEffect(() => {
    const left = new AbortController()
    // Without a connection, the session is as unavailable as before.
    waitUntilListed(playlistUrl, left.signal).then(
      (isListed) => isListed && location.reload(),
      () => undefined,
    )
    return () => left.abort()
  }, [playlistUrl])
}

/** Rejects on abort. */
async function waitUntilListed(url: string, signal: AbortSignal): Promise<boolean> {
  for (const pauseMs of PAUSES_MS) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const { ok, status } = await fetch(url, { method: 'HEAD', signal })
    if (ok) return true
    // Any other status is final.
    if (status !== 404 && status !== 503) return false
  }
  return false
}
