// One session beside the video of the page.
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { playerPagePath } from '../../../shared/paths.ts'
import type { PageApi } from '../../api/page-api.ts'
import { translate } from '../../language/translate.ts'
import { Link } from '../../ui/link.tsx'
import { Name } from '../../ui/name.tsx'
import { playSession } from '../engine/play-session.ts'
import type { Playback } from '../playback/playback.ts'
import type { SessionAround } from '../story/use-around.ts'
import { OffsetField } from '../offset-field.tsx'
import { followSession } from './follow-session.ts'
import { MAX_SHIFT_SECONDS } from './view-list.ts'
import type { View } from './view-list.ts'
import styles from './views.module.css'

interface ViewTileProps {
  api: PageApi
  /** The session that it follows. */
  playback: Playback
  view: View
  /** Undefined if nothing says when it was. */
  known: SessionAround | undefined
  isHeard: boolean
  onHeard(this: void, isHeard: boolean): void
  onShift(this: void, seconds: number): void
  onClose(this: void): void
}

export function ViewTile(props: ViewTileProps) {
  const { api, playback, view, known, isHeard, onHeard, onShift, onClose } = props
  const videoRef = useRef<HTMLVideoElement>(null)
  const isRecorded = useAlignedPlayback({ api, playback, view, known, videoRef })
  useEffect(() => {
    const [video, main] = [videoRef.current, playback.video]
    if (!video) return undefined
    const follow = () => void (video.volume = main.volume)
    video.muted = !isHeard
    follow()
    main.addEventListener('volumechange', follow)
    return () => main.removeEventListener('volumechange', follow)
  }, [playback, isHeard])
  const name = known?.title ?? view.sessionId
  return (
    <figure className={styles.view} data-heard={isHeard || undefined}>
      <div className={styles.screen}>
        <video
          ref={videoRef}
          className={styles.video}
          poster={api.thumbnailUrl(view)}
          aria-label={`${view.streamer} - ${name}`}
          playsInline
          muted
          onClick={() => onHeard(true)}
        />
        {!isRecorded && <p className={styles.absent}>{translate('Not recorded at this moment')}</p>}
      </div>
      <figcaption className={styles.caption}>
        <Link className={styles.name} to={playerPagePath(view)}>
          <Name>{view.streamer}</Name>
        </Link>
        <button
          type="button"
          className={styles.choice}
          aria-pressed={isHeard}
          onClick={() => onHeard(!isHeard)}
        >
          {translate('Sound')}
        </button>
        <button
          type="button"
          className={styles.close}
          aria-label={translate('Close {streamer}', { streamer: view.streamer })}
          onClick={onClose}
        >
          ×
        </button>
        <OffsetField
          label={translate('Offset')}
          title={translate('Seconds by which this view comes later')}
          step={0.1}
          max={MAX_SHIFT_SECONDS}
          seconds={view.shiftSeconds}
          onChange={onShift}
        />
      </figcaption>
    </figure>
  )
}

interface AlignedOptions extends Pick<ViewTileProps, 'api' | 'playback' | 'view' | 'known'> {
  videoRef: { readonly current: HTMLVideoElement | null }
}

/** Plays the view at the moment of the other session. Returns whether it has this moment. */
function useAlignedPlayback({ api, playback, view, known, videoRef }: AlignedOptions): boolean {
  const [isRecorded, setIsRecorded] = useState(false)
  const source = api.playlistUrl(view)
  const { shiftSeconds } = view
  const findRef = useRef<(seconds: number, listedSeconds?: number) => number | undefined>(
    () => undefined,
  )
  useLayoutEffect(() => {
    findRef.current = (seconds, listedSeconds = 0) => {
      if (!known) return undefined
      const own = seconds - known.offsetSeconds - shiftSeconds
      // It may have grown since.
      const end = Math.max(known.durationSeconds, listedSeconds)
      return own >= 0 && own < end ? own : undefined
    }
  }, [known, shiftSeconds])
  const isKnown = known !== undefined
  useEffect(() => {
    const video = videoRef.current
    if (!video || !isKnown) return undefined
    const start = async () => findRef.current(playback.video.currentTime) ?? 0
    const { playback: own, end } = playSession(video, source, { findStart: start })
    const find = (seconds: number) => findRef.current(seconds, own.read().durationSeconds)
    const stop = followSession({ playback, view: video, find, onRecorded: setIsRecorded })
    return () => {
      stop()
      end()
    }
  }, [playback, source, isKnown, videoRef])
  return isRecorded
}
