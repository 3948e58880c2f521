// The button that opens and closes the chat.
import styles from '../controls/controls.module.css'
import { Icon } from '../controls/icon.tsx'
import { translate } from '../../language/translate.ts'
import type { SessionChat } from './use-chat.ts'

export function ChatButton({ chat: { isOpen, toggle } }: { chat: SessionChat }) {
  const label = translate('Chat')
  return (
    <button
      type="button"
      className={`${styles.control} ${styles.named}`}
      aria-label={label}
      aria-expanded={isOpen}
      title={label}
      onClick={toggle}
    >
      <Icon name="chat" />
    </button>
  )
}
