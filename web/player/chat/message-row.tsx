// One message of a chat: time, badges, name, text.
import { memo } from 'react'
import { formatMoment } from '../../ui/format-moment.ts'
import { translate } from '../../language/translate.ts'
import { Name } from '../../ui/name.tsx'
import type { ChatMessage } from './chat-source.ts'
import { EmoteText } from './emotes.tsx'
import type { Emotes } from './emotes.tsx'
import styles from './chat-panel.module.css'
import { nameColor } from './name-color.ts'

interface MessageRowProps {
  message: ChatMessage
  /** Messages come later by these seconds. */
  offsetSeconds: number
  emotes: Emotes | undefined
  onSeek(this: void, seconds: number): void
  onUser(this: void, user: string): void
}

const KINDS = { paid: 'Paid', member: 'Member', raid: 'Raid', system: 'System' } as const

/** Its buttons are no tab stops: hundreds would be before what follows the chat. */
export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { message, offsetSeconds, emotes, onSeek, onUser } = props
  const { t, user, color, text, kind, badges = [] } = message
  const seconds = Math.max(t + offsetSeconds, 0)
  const marks = kind ? [translate(KINDS[kind]), ...badges] : badges
  return (
    <p className={styles.message} data-kind={kind}>
      <button type="button" className={styles.time} tabIndex={-1} onClick={() => onSeek(seconds)}>
        {formatMoment(seconds)}
      </button>{' '}
      {marks.length > 0 && <bdi className={styles.badges}>{marks.join(', ')} </bdi>}
      <button
        type="button"
        className={styles.user}
        style={color === undefined ? undefined : { color: nameColor(color) }}
        tabIndex={-1}
        onClick={() => onUser(user)}
      >
        <Name>{user}</Name>
      </button>{' '}
      <bdi>
        <EmoteText text={text} emotes={emotes} />
      </bdi>
    </p>
  )
})
