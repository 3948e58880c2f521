// What is below the controls: title, streamer, date and description of the session.
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { DetailsResponse, SessionResponse } from '../../../shared/contract.ts'
import { sessionsPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { sessionDay } from '../../../shared/session-day.ts'
import type { PageApi } from '../../api/page-api.ts'
import type { LoadState } from '../../api/resource.ts'
import { useResource } from '../../api/use-resource.ts'
import type { OfferView } from '../views/use-views.ts'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { Link } from '../../ui/link.tsx'
import { playFrom } from '../controls/commands.ts'
import type { Playback } from '../playback/playback.ts'
import { currentLanguage, translate } from '../../language/translate.ts'
import { Name } from '../../ui/name.tsx'
import { AtTheSameTime } from './at-the-same-time.tsx'
import styles from './session-story.module.css'
import { splitAtTimeCodes } from './time-codes.ts'
import type { Around } from './use-around.ts'

interface SessionStoryProps {
  api: PageApi
  playback: Playback
  session: SessionReference
  /** The title of the page. */
  heading: string
  details: LoadState<SessionResponse>
  around: Around
  offerView: OfferView
  /** Called once its height is final. */
  onSettled(this: void): void
}

/** Until it is loaded. */
const NO_PROFILE: Pick<DetailsResponse, 'displayName' | 'avatarUrl'> = {}

export function SessionStory(props: SessionStoryProps) {
  const { api, playback, session, heading, details, around, offerView, onSettled } = props
  const { streamer, date } = session
  const profile = useResource(api.details(streamer))
  const { displayName, avatarUrl } = profile.status === 'loaded' ? profile.value : NO_PROFILE
  const known: Partial<SessionResponse> = details.status === 'loaded' ? details.value : {}
  const { title, game, description, startTime, durationSeconds = Infinity, download } = known
  const isLoading = profile.status === 'loading' || !around.isSettled
  useEffect(() => (isLoading ? undefined : onSettled()), [isLoading, onSettled])
  useDocumentTitle(title === undefined ? heading : `${title} · ${heading}`)
  return (
    <section
      className={styles.story}
      aria-label={translate('About this session')}
      data-loading={isLoading || undefined}
    >
      {title !== undefined && (
        <h2 className={styles.title}>
          <Name>{title}</Name>
        </h2>
      )}
      <p className={styles.facts}>
        {avatarUrl !== undefined && (
          <img className={styles.avatar} src={api.streamerThumbnailUrl(streamer)} alt="" />
        )}
        <Link className={styles.streamer} to={sessionsPagePath(streamer)}>
          <Name>{displayName ?? streamer}</Name>
        </Link>
        <span>{formatDay(date, startTime)}</span>
        {game !== undefined && <Name>{game}</Name>}
        {download && (
          <a href={hrefOf(download.url, api.playlistUrl(session))} download>
            {translate('Download')}
          </a>
        )}
      </p>
      {description !== undefined && (
        <Description playback={playback} text={description} durationSeconds={durationSeconds} />
      )}
      {around.sessions.length > 0 && (
        <AtTheSameTime {...{ playback, durationSeconds, offerView }} sessions={around.sessions} />
      )}
    </section>
  )
}

/** @param base URL of the API on which the path is based */
function hrefOf(path: string, base: string): string {
  return new URL(path, new URL(base, location.href)).href
}

/** In the visitor's time zone, if the time is known; the date itself if it is not a day. */
function formatDay(date: string, startTime: string | undefined): string {
  const day = sessionDay(date)
  const known = startTime ?? day
  if (known === undefined || Number.isNaN(Date.parse(known))) return date
  return new Date(known).toLocaleString(currentLanguage(), {
    dateStyle: 'full',
    ...(startTime === undefined ? { timeZone: 'UTC' } : { timeStyle: 'short' }),
  })
}

interface DescriptionProps {
  playback: Playback
  text: string
  durationSeconds: number
}

/** Text with buttons that seek; a long one is collapsed. */
function Description({ playback, text, durationSeconds }: DescriptionProps) {
  const textRef = useRef<HTMLParagraphElement>(null)
  const [state, setState] = useState<'short' | 'collapsed' | 'expanded'>('collapsed')
  useLayoutEffect(() => {
    const element = textRef.current
    if (element && element.scrollHeight <= element.clientHeight) setState('short')
  }, [text])

  return (
    <>
      <p
        ref={textRef}
        className={styles.description}
        data-collapsed={state === 'collapsed' || undefined}
      >
        {splitAtTimeCodes(text, durationSeconds).map((part, at) =>
          part.seconds === undefined ? (
            <bdi key={at}>{part.text}</bdi>
          ) : (
            <button
              key={at}
              type="button"
              className={styles.moment}
              onClick={() => playFrom(playback, part.seconds ?? 0)}
            >
              {part.text}
            </button>
          ),
        )}
      </p>
      {state !== 'short' && (
        <button
          type="button"
          className={styles.more}
          aria-expanded={state === 'expanded'}
          onClick={() => setState(state === 'expanded' ? 'collapsed' : 'expanded')}
        >
          {translate(state === 'expanded' ? 'Show less' : 'Show more')}
        </button>
      )}
    </>
  )
}
