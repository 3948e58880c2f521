// The sessions that this visitor has watched in part, on the home page.
import { useEffect, useState } from 'react'
import { playerPagePath, sessionKey } from '../../shared/paths.ts'
import { withTimeout } from '../../shared/with-timeout.ts'
import { useSelectItem } from '../analytics/use-analytics.ts'
import { joinDetails } from '../api/join-details.ts'
import type { DescribedSession } from '../api/join-details.ts'
import type { PageApi } from '../api/page-api.ts'
import { readContinuable } from '../navigation/watch-history.ts'
import type { ContinuableSession } from '../navigation/watch-history.ts'
import { LiveBadge, WatchedBar } from '../ui/badges.tsx'
import { Card } from '../ui/card.tsx'
import cardStyles from '../ui/card.module.css'
import { formatMoment } from '../ui/format-moment.ts'
import { Link } from '../ui/link.tsx'
import { Thumbnail } from '../ui/thumbnail.tsx'
import { translate } from '../language/translate.ts'
import { Name } from '../ui/name.tsx'
import styles from './continue-watching.module.css'

const LIMIT = 6

/** Titles that arrive later would change the cards. */
const DETAILS_TIMEOUT_MS = 500

type ListedSession = ContinuableSession & DescribedSession

/** Rendered at once when it is known which sessions still exist, so that no card moves. */
export function ContinueWatching({ api }: { api: PageApi }) {
  const [listed, setListed] = useState<ListedSession[]>()
  useEffect(() => {
    const left = new AbortController()
    const { signal } = left
    const found = readContinuable(LIMIT).map((item) => findListed(api, item, signal))
    void Promise.all(found).then((items) => signal.aborted || setListed(items.flat()))
    return () => left.abort()
  }, [api])
  const label = translate('Continue watching')
  return (
    listed && (
      <section aria-label={label} hidden={listed.length === 0}>
        <h2 className={styles.heading}>{label}</h2>
        <ul className={styles.row} aria-label={label}>
          {listed.map((item, position) => (
            <ContinueCard
              key={sessionKey(item.session)}
              item={item}
              thumbnailUrl={api.thumbnailUrl(item.session)}
              position={position}
            />
          ))}
        </ul>
      </section>
    )
  )
}

/** None if the session is gone, or the list of its streamer cannot be loaded. */
async function findListed(
  api: PageApi,
  item: ContinuableSession,
  signal: AbortSignal,
): Promise<ListedSession[]> {
  const { streamer, date, sessionId } = item.session
  const load = async (limited: AbortSignal) =>
    (await api.details(streamer).settled(limited)).sessions
  const details = withTimeout(load, { timeoutMs: DETAILS_TIMEOUT_MS, signal }).catch(() => [])
  const list = await api
    .sessions(streamer)
    .settled(signal)
    .catch(() => [])
  const found = list.filter((other) => other.date === date && other.sessionId === sessionId)
  return joinDetails(found, await details).map((described) => ({ ...described, ...item }))
}

interface ContinueCardProps {
  item: ListedSession
  thumbnailUrl: string
  position: number
}

function ContinueCard({ item, thumbnailUrl, position }: ContinueCardProps) {
  const { session, positionSeconds, durationSeconds, title, isGrowing } = item
  const select = useSelectItem('sessions', session)
  const image = (
    <Thumbnail url={thumbnailUrl} position={position}>
      {isGrowing && <LiveBadge />}
      <WatchedBar share={positionSeconds / durationSeconds} />
    </Thumbnail>
  )
  return (
    <Card image={image}>
      <h3 className={`${cardStyles.title} ${styles.line}`} title={title}>
        <Link
          className={cardStyles.cover}
          to={`${playerPagePath(session)}?t=${positionSeconds}`}
          {...select}
        >
          <Name>{title ?? session.date}</Name>
        </Link>
      </h3>
      <p className={`${cardStyles.detail} ${styles.line}`}>
        <Name>{session.streamer}</Name>
      </p>
      <p className={`${cardStyles.detail} ${cardStyles.id}`}>
        {translate('Continue at {moment}', { moment: formatMoment(positionSeconds) })}
      </p>
    </Card>
  )
}
