// The messages that match a search, and how far it has come.
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { ComponentProps } from 'react'
import buttons from '../../ui/button.module.css'
import { translate, translateCount } from '../../language/translate.ts'
import type { ChatSource } from './chat-source.ts'
import styles from './chat-panel.module.css'
import { MessageList } from './message-list.tsx'
import { NO_FINDINGS, searchChat } from './search-chat.ts'
import type { ChatQuery } from './search-chat.ts'

interface ChatSearchProps {
  source: ChatSource
  /** A new component per query. */
  query: ChatQuery
  row: ComponentProps<typeof MessageList>['row']
}

/** Nobody types slower within a word. */
const TYPING_MS = 300

export function ChatSearch({ source, query, row }: ChatSearchProps) {
  const { text, user } = query
  const [findings, setFindings] = useState(NO_FINDINGS)
  /** Where the search continues. */
  const [before, setBefore] = useState(NO_FINDINGS)
  const isLoading = useSyncExternalStore(source.subscribe, () => source.read().status === 'loading')
  useEffect(() => {
    if (isLoading) return undefined
    const left = new AbortController()
    const search = { source, query: { text, user }, before }
    const timer = setTimeout(() => void searchChat(search, left.signal, setFindings), TYPING_MS)
    return () => {
      clearTimeout(timer)
      left.abort()
    }
  }, [source, text, user, before, isLoading])
  const { messages, searched, total, isSearching } = findings
  return (
    <div className={styles.body}>
      <div className={styles.progress}>
        <output>{isSearching ? '' : describeFound(messages.length)}</output>
        {isSearching && (
          <progress aria-label={translate('Search')} value={searched} max={total || 1} />
        )}
        {!isSearching && searched < total && (
          <button
            type="button"
            className={buttons.soft}
            onClick={() => {
              setBefore(findings)
              setFindings({ ...findings, isSearching: true })
            }}
          >
            {translate('Search further')}
          </button>
        )}
      </div>
      <MessageList aria-label={translate('Found messages')} messages={messages} row={row} />
    </div>
  )
}

function describeFound(found: number): string {
  if (found === 0) return translate('No messages found')
  return translateCount(found, '{n} messages', '{n} message')
}
