// Sessions of other streamers beside the video, at the same moment. One of them has the sound.
import { useEffect, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { useNavigate } from 'react-router'
import { sessionKey, watchPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { PageApi } from '../../api/page-api.ts'
import { translate } from '../../language/translate.ts'
import { Name } from '../../ui/name.tsx'
import type { Playback } from '../playback/playback.ts'
import type { Around, SessionAround } from '../story/use-around.ts'
import { formatViews, isSame, viewsFrom } from './view-list.ts'
import type { View } from './view-list.ts'
import { ViewTile } from './view-tile.tsx'
import styles from './views.module.css'

export interface ViewsProps {
  api: PageApi
  playback: Playback
  /** The session of the page, which the others follow. */
  session: SessionReference
  around: Around
  views: readonly View[]
  onViews(this: void, views: readonly View[]): void
}

/** Of the window. Smaller ones have room for one. */
const SEVERAL_VIEWS = '(width >= 40rem)'

export function Views(props: ViewsProps) {
  const { api, playback, session, around, views, onViews } = props
  const known = around.sessions
  const player = playback.video.closest('[data-player]')
  const hasSeveral = useMediaQuery(SEVERAL_VIEWS)
  const [heard, hear] = useSound(playback)
  if (!player || !around.isSettled) return null
  const replace = (view: View, ...by: View[]): void =>
    onViews(views.flatMap((other) => (other === view ? by : [other])))
  return createPortal(
    <section className={styles.views} aria-label={translate('Views')}>
      {hasSeveral ? (
        views.map((view) => {
          const key = sessionKey(view)
          return (
            <ViewTile
              key={key}
              {...{ api, playback, view }}
              known={known.find((other) => isSame(other, view))}
              isHeard={heard === key}
              onHeard={(isHeard) => hear(isHeard ? key : undefined)}
              onShift={(shiftSeconds) => replace(view, { ...view, shiftSeconds })}
              onClose={() => {
                if (heard === key) hear(undefined)
                replace(view)
              }}
            />
          )
        })
      ) : (
        <ViewSwitch {...{ playback, session, known, views }} />
      )}
    </section>,
    player,
  )
}

interface ViewSwitchProps extends Pick<ViewsProps, 'playback' | 'session' | 'views'> {
  known: readonly SessionAround[]
}

/** Shows another session instead: a phone has room and data for one. */
function ViewSwitch(props: ViewSwitchProps) {
  const { playback, session, known, views } = props
  const navigate = useNavigate()

  function show(view: View): void {
    const { offsetSeconds = 0 } = known.find((other) => isSame(other, view)) ?? {}
    const seconds = playback.video.currentTime - offsetSeconds - view.shiftSeconds
    const query = new URLSearchParams({
      with: formatViews(viewsFrom(view, session, views)),
      t: Math.max(seconds, 0).toFixed(1),
    })
    void navigate(`${watchPagePath(view)}?${query}`, { replace: true })
  }

  return (
    <div className={styles.switch}>
      <button type="button" className={styles.choice} aria-pressed={true}>
        <Name>{session.streamer}</Name>
      </button>
      {views.map((view) => (
        <button
          key={sessionKey(view)}
          type="button"
          className={styles.choice}
          aria-pressed={false}
          onClick={() => show(view)}
        >
          <Name>{view.streamer}</Name>
        </button>
      ))}
    </div>
  )
}

/** The view that is heard, by its key; undefined for the session of the page. */
function useSound(playback: Playback) {
  const [heard, setHeard] = useState<string>()
  const isOther = heard !== undefined
  useEffect(
    () => (isOther ? silence(playback, () => setHeard(undefined)) : undefined),
    [playback, isOther],
  )
  return [heard, setHeard] as const
}

/** Mutes the session of the page; whoever unmutes it wants to hear it. Returns the undo. */
function silence({ video }: Playback, onUnmuted: () => void): () => void {
  const wasMuted = video.muted
  video.muted = true
  const onVolume = () => video.muted || onUnmuted()
  video.addEventListener('volumechange', onVolume)
  return () => {
    video.removeEventListener('volumechange', onVolume)
    if (video.muted) video.muted = wasMuted
  }
}

function useMediaQuery(query: string): boolean {
  return useSyncExternalStore(
    (onChange) => {
      const list = matchMedia(query)
      list.addEventListener('change', onChange)
      return () => list.removeEventListener('change', onChange)
    },
    () => matchMedia(query).matches,
  )
}
