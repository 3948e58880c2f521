// The chat of a session: what was written up to the position, and a search in all of it.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { SearchBox } from '../../ui/search-box.tsx'
import { OffsetField } from '../offset-field.tsx'
import type { Playback } from '../playback/playback.ts'
import { translate } from '../../language/translate.ts'
import { FilledText } from '../../language/filled-text.tsx'
import { Name } from '../../ui/name.tsx'
import { ChatLog } from './chat-log.tsx'
import { useEmotes } from './emotes.tsx'
import styles from './chat-panel.module.css'
import { placeChat } from './chat-place.ts'
import { ChatSearch } from './chat-search.tsx'
import type { SessionChat } from './use-chat.ts'

export interface ChatPanelProps {
  playback: Playback
  chat: SessionChat
  /** Plays from there. */
  onSeek(this: void, seconds: number): void
}

/** A day. */
const MAX_OFFSET_SECONDS = 86_400

/** Nothing while the chat is closed: its code is loaded before, so that it opens at once. */
export function ChatPanel(props: ChatPanelProps) {
  return props.chat.isOpen && <OpenChat {...props} />
}

function OpenChat({ playback, chat, onSeek }: ChatPanelProps) {
  const { source, isRoomBeside, offsetSeconds, setOffset } = chat
  const [text, setText] = useState('')
  const [user, setUser] = useState<string>()
  useLayoutEffect(() => placeChat(playback.video, isRoomBeside), [playback, isRoomBeside])
  const emotes = useEmotes(source)
  const row = useMemo(
    () => ({ offsetSeconds, emotes, onSeek, onUser: setUser }),
    [offsetSeconds, emotes, onSeek],
  )
  const search = translate('Search chat…')
  const query = { text: text.trim(), user }
  const isSearch = query.text !== '' || user !== undefined
  return (
    <section className={styles.chat} aria-label={translate('Chat')}>
      <div className={styles.tools}>
        <SearchBox
          label={search}
          placeholder={search}
          query={text}
          onQuery={setText}
          onSubmit={() => undefined}
          found=""
        />
        {user !== undefined && <UserFilter user={user} onEnd={() => setUser(undefined)} />}
      </div>
      {isSearch ? (
        <ChatSearch key={JSON.stringify(query)} source={source} query={query} row={row} />
      ) : (
        <ChatLog {...{ playback, source, offsetSeconds, row }} />
      )}
      <div className={styles.offset}>
        <OffsetField
          label={translate('Chat offset')}
          title={translate('Seconds by which messages come later')}
          step={1}
          max={MAX_OFFSET_SECONDS}
          seconds={offsetSeconds}
          onChange={setOffset}
        />
      </div>
    </section>
  )
}

interface UserFilterProps {
  user: string
  onEnd(this: void): void
}

/** Has the focus of the message by which it was chosen. */
function UserFilter({ user, onEnd }: UserFilterProps) {
  const buttonRef = useRef<HTMLButtonElement>(null)
  useEffect(() => buttonRef.current?.focus({ preventScroll: true }), [])
  return (
    <button ref={buttonRef} type="button" className={styles.filter} onClick={onEnd}>
      <span>
        <FilledText text="Only {user}" values={{ user: <Name>{user}</Name> }} />
      </span>
      <span aria-hidden="true">×</span>
    </button>
  )
}
