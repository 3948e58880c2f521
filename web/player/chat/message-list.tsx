// A scrollable list of messages, which is one tab stop: its arrow keys move between the buttons.
import type { ComponentProps, KeyboardEvent, MouseEvent } from 'react'
import type { ChatMessage } from './chat-source.ts'
import styles from './chat-panel.module.css'
import { MessageRow } from './message-row.tsx'

type RowProps = Omit<ComponentProps<typeof MessageRow>, 'message'>

interface MessageListProps extends Pick<
  ComponentProps<'div'>,
  'ref' | 'aria-label' | 'onScroll' | 'onWheel' | 'onFocus'
> {
  messages: readonly ChatMessage[]
  row: RowProps
}

export function MessageList({ messages, row, ...props }: MessageListProps) {
  return (
    // Its buttons have these events. It is not live: many messages per second would drown
    // everything else that is read aloud.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      {...props}
      className={styles.list}
      role="log"
      aria-live="off"
      // It scrolls.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onKeyDown={moveFocus}
      onClick={keepFocus}
    >
      {messages.map((message) => (
        <MessageRow key={message.id} message={message} {...row} />
      ))}
    </div>
  )
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return
  const buttons = [...event.currentTarget.querySelectorAll('button')]
  const focused = buttons.findIndex((button) => button === document.activeElement)
  const target = focused === -1 ? buttons.at(-2) : buttons[focused + step]
  event.preventDefault()
  target?.focus()
}

/** A message may leave the list with what a key of its button does. */
function keepFocus({ detail, currentTarget }: MouseEvent<HTMLElement>): void {
  if (detail === 0) currentTarget.focus()
}
