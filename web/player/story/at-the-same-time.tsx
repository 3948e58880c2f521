// Links to the same moment of other streamers' sessions.
import { playerPagePath } from '../../../shared/paths.ts'
import { formatMoment } from '../../ui/format-moment.ts'
import { Link } from '../../ui/link.tsx'
import type { Playback } from '../playback/playback.ts'
import { usePlayback } from '../playback/use-playback.ts'
import { translate } from '../../language/translate.ts'
import { Name } from '../../ui/name.tsx'
import type { OfferView } from '../views/use-views.ts'
import { momentIn, sharedTime } from './same-moment.ts'
import styles from './session-story.module.css'
import type { SessionAround } from './use-around.ts'

interface AtTheSameTimeProps {
  playback: Playback
  sessions: readonly SessionAround[]
  durationSeconds: number
  offerView: OfferView
}

export function AtTheSameTime({
  playback,
  sessions,
  durationSeconds,
  offerView,
}: AtTheSameTimeProps) {
  const seconds = usePlayback(playback, (state) => Math.floor(state.positionSeconds))
  const label = translate('At the same time')
  return (
    <>
      <h2 className={styles.heading}>{label}</h2>
      <ul className={styles.around} aria-label={label}>
        {sessions.map((other) => {
          const path = playerPagePath(other)
          const view = offerView(other)
          const shared = sharedTime(other, durationSeconds)
          return (
            <li className={styles.facts} key={path}>
              <Link
                className={styles.streamer}
                to={`${path}?t=${momentIn(other, shared, seconds)}`}
              >
                <Name>{other.streamer}</Name>
              </Link>
              {other.title !== undefined && <Name>{other.title}</Name>}
              <span>
                {formatMoment(shared.from)} – {formatMoment(shared.to)}
              </span>
              {view && (
                <button type="button" className={styles.more} onClick={view}>
                  {translate('Watch together')}
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </>
  )
}
