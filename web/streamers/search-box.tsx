// The search box with the number of matches, as a polite live region for screen readers.
import styles from './search-box.module.css'

interface SearchBoxProps {
  query: string
  onQuery(this: void, query: string): void
  /** Number of matches; undefined without a query. */
  found: number | undefined
}

export function SearchBox({ query, onQuery, found }: SearchBoxProps) {
  return (
    <search className={styles.search}>
      <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="7" cy="7" r="4.5" />
        <path d="m10.5 10.5 3.5 3.5" />
      </svg>
      <input
        className={styles.input}
        type="search"
        placeholder="Search streamer..."
        aria-label="Search streamer"
        autoComplete="off"
        spellCheck={false}
        dir="auto"
        value={query}
        onChange={(event) => onQuery(event.target.value)}
      />
      <p className={styles.found} aria-live="polite">
        {found === undefined ? '' : found === 1 ? '1 streamer found' : `${found} streamers found`}
      </p>
    </search>
  )
}
