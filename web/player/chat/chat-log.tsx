// The messages up to the position. It follows the video until the visitor scrolls up.
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { ComponentProps, FocusEvent, WheelEvent } from 'react'
import buttons from '../../ui/button.module.css'
import type { Playback } from '../playback/playback.ts'
import { usePlayback } from '../playback/use-playback.ts'
import { translate } from '../../language/translate.ts'
import type { ChatMessage } from './chat-source.ts'
import type { ChatSource } from './chat-source.ts'
import styles from './chat-panel.module.css'
import { followPlayback } from './follow-playback.ts'
import { MessageList } from './message-list.tsx'

interface ChatLogProps {
  playback: Playback
  source: ChatSource
  offsetSeconds: number
  row: ComponentProps<typeof MessageList>['row']
}

/** A list that ends within this distance is at its end, in CSS pixels. */
const END_DISTANCE = 24

export function ChatLog({ playback, source, offsetSeconds, row }: ChatLogProps) {
  const logRef = useRef<HTMLDivElement>(null)
  /** Where the list was scrolled to. */
  const topRef = useRef(0)
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const [isFollowing, setIsFollowing] = useState(true)
  const isSeeking = usePlayback(playback, (state) => state.isSeeking)
  // What the visitor reads is elsewhere in the session.
  if (isSeeking && !isFollowing) setIsFollowing(true)

  useEffect(() => {
    if (!isFollowing) return undefined
    return followPlayback({ playback, source, offsetSeconds, onMessages: setMessages })
  }, [isFollowing, playback, source, offsetSeconds])

  useLayoutEffect(() => {
    const log = logRef.current
    if (log && isFollowing) log.scrollTop = log.scrollHeight
  }, [messages, row, isFollowing])

  useEffect(() => {
    const log = logRef.current
    if (!log || !isFollowing) return undefined
    const observer = new ResizeObserver(() => void (log.scrollTop = log.scrollHeight))
    observer.observe(log)
    return () => observer.disconnect()
  }, [isFollowing])

  function noticeScroll(): void {
    const log = logRef.current
    if (!log) return
    const below = log.scrollHeight - log.clientHeight - log.scrollTop
    // A list that became smaller is not at its end either.
    const isUp = log.scrollTop < topRef.current
    topRef.current = log.scrollTop
    if (below < END_DISTANCE) setIsFollowing(true)
    else if (isUp) setIsFollowing(false)
  }

  /** Before the list has moved, another message would scroll it back. */
  function noticeWheel({ deltaY, ctrlKey, currentTarget }: WheelEvent): void {
    if (deltaY < 0 && !ctrlKey && currentTarget.scrollTop > 0) setIsFollowing(false)
  }

  /** A message that has the focus must not move. */
  function noticeFocus({ target, currentTarget }: FocusEvent): void {
    if (target !== currentTarget && target.matches(':focus-visible')) setIsFollowing(false)
  }

  return (
    <div className={styles.body}>
      <MessageList
        ref={logRef}
        aria-label={translate('Messages')}
        messages={messages}
        row={row}
        onScroll={noticeScroll}
        onWheel={noticeWheel}
        onFocus={noticeFocus}
      />
      {!isFollowing && (
        <button
          type="button"
          className={`${buttons.primary} ${styles.now}`}
          onClick={() => setIsFollowing(true)}
        >
          {translate('Jump to now')}
        </button>
      )}
    </div>
  )
}
