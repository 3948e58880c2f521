// The controls below the video.
import type { ReactNode } from 'react'
import { Link } from '../../ui/link.tsx'
import { playerPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { Playback } from '../playback/playback.ts'
import { usePlayback } from '../playback/use-playback.ts'
import { translate } from '../../language/translate.ts'
import { jumpToLive } from './commands.ts'
import styles from './controls.module.css'
import { Icon } from './icon.tsx'
import { formatStep } from './format-step.ts'
import { LIVE_SECONDS, secondsToEdge } from './live-edge.ts'
import type { Neighbours } from './neighbours.ts'
import { ShareButtons } from './share/share-buttons.tsx'
import type { Command } from './shortcuts/shortcuts.ts'
import { SpeedMenu } from './speed-menu.tsx'

interface ControlRowProps {
  playback: Playback
  neighbours: Neighbours
  /** They depend on details, which may be late; at the end, where they move nothing. */
  menus: ReactNode
  isTheatre: boolean
  /** Tooltips name the keys. */
  hasShortcuts: boolean
  onCommand(this: void, command: Command): void
  onRate(this: void, rate: number): void
}

export function ControlRow(props: ControlRowProps) {
  const { playback, neighbours, isTheatre, hasShortcuts, onCommand, onRate } = props
  const theatre = translate('Theatre')
  const help = translate('Keyboard shortcuts')
  return (
    <>
      <div className={styles.group}>
        <SessionLink
          name={translate('Previous session')}
          icon="previous"
          session={neighbours.previous}
        />
        <SeekButton seconds={-10} onCommand={onCommand} />
        <SeekButton seconds={10} onCommand={onCommand} />
        <SessionLink name={translate('Next session')} icon="next" session={neighbours.next} />
        <SpeedMenu playback={playback} onSelect={onRate} />
        <button
          type="button"
          className={`${styles.control} ${styles.named}`}
          aria-label={theatre}
          aria-pressed={isTheatre}
          title={hasShortcuts ? `${theatre} (T)` : theatre}
          onClick={() => onCommand({ name: 'theatre' })}
        >
          <Icon name="theatre" />
        </button>
        {props.menus}
      </div>
      <div className={styles.group}>
        <LiveButton playback={playback} />
        <ShareButtons playback={playback} />
        <button
          type="button"
          className={styles.control}
          aria-label={help}
          title={hasShortcuts ? `${help} (?)` : help}
          onClick={() => onCommand({ name: 'help' })}
        >
          <Icon name="keyboard" />
        </button>
      </div>
    </>
  )
}

interface SessionLinkProps {
  name: string
  icon: 'previous' | 'next'
  /** Undefined if there is none, or not yet. */
  session: SessionReference | undefined
}

/** Its room is reserved, so that the others do not move. */
function SessionLink({ name, icon, session }: SessionLinkProps) {
  if (!session) {
    return (
      <span className={`${styles.control} ${styles.disabled}`}>
        <Icon name={icon} />
      </span>
    )
  }
  const title = `${name}: ${session.date}, ${session.sessionId}`
  return (
    <Link className={styles.control} to={playerPagePath(session)} aria-label={name} title={title}>
      <Icon name={icon} />
    </Link>
  )
}

interface SeekButtonProps {
  seconds: number
  onCommand(this: void, command: Command): void
}

function SeekButton({ seconds, onCommand }: SeekButtonProps) {
  return (
    <button
      type="button"
      className={styles.control}
      onClick={() => onCommand({ name: 'seek by', seconds })}
    >
      {formatStep(seconds)}
    </button>
  )
}

function LiveButton({ playback }: Pick<ControlRowProps, 'playback'>) {
  const isLate = usePlayback(playback, (state) => (secondsToEdge(state) ?? 0) > LIVE_SECONDS)
  if (!isLate) return null
  return (
    <button type="button" className={styles.offer} onClick={() => jumpToLive(playback)}>
      <Icon name="live" />
      {translate('Jump to live')}
    </button>
  )
}
