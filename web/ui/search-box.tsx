// The search box with the number of matches, as a polite live region for screen readers.
import { useRef } from 'react'
import type { KeyboardEvent } from 'react'
import { useFocusKey } from '../navigation/use-focus-key.ts'
import styles from './search-box.module.css'

interface SearchBoxProps {
  /** Accessible name. */
  label: string
  placeholder: string
  query: string
  onQuery(this: void, query: string): void
  /** Called on Enter. */
  onSubmit(this: void): void
  /** The number of matches in words; empty without a query. */
  found: string
}

export function SearchBox({ label, placeholder, query, onQuery, onSubmit, found }: SearchBoxProps) {
  const inputRef = useRef<HTMLInputElement>(null)
  const focusKey = useFocusKey(inputRef, '/')

  function submit(event: KeyboardEvent): void {
    // While an input method composes characters, Enter only confirms them.
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) onSubmit()
  }

  return (
    <search className={styles.search}>
      <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="7" cy="7" r="4.5" />
        <path d="m10.5 10.5 3.5 3.5" />
      </svg>
      <input
        ref={inputRef}
        className={styles.input}
        type="search"
        placeholder={placeholder}
        aria-label={label}
        aria-keyshortcuts={focusKey}
        autoComplete="off"
        enterKeyHint="search"
        spellCheck={false}
        dir="auto"
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={submit}
      />
      <p className={styles.found} aria-live="polite">
        {found}
      </p>
    </search>
  )
}
