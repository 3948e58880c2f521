// The button that opens and closes the chat.
import styles from '../controls/controls.module.css'
import { Icon } from '../controls/icon.tsx'
import type { SessionChat } from './use-chat.ts'

export function ChatButton({ chat: { isOpen, toggle } }: { chat: SessionChat }) {
  return (
    <button
      type="button"
      className={`${styles.control} ${styles.named}`}
      aria-label="Chat"
      aria-expanded={isOpen}
      title="Chat"
      onClick={toggle}
    >
      <Icon name="chat" />
    </button>
  )
}
