// Search and month of a long list of sessions.
import { SearchBox } from '../ui/search-box.tsx'
import { translate } from '../language/translate.ts'
import styles from './session-filter.module.css'

interface SessionFilterProps {
  query: string
  onQuery(this: void, query: string): void
  /** Called on Enter in the search box. */
  onSubmit(this: void): void
  /** The number of matches in words; empty without a filter. */
  found: string
  months: { value: string; label: string }[]
  /** '' is all. */
  month: string
  onMonth(this: void, month: string): void
}

export function SessionFilter(props: SessionFilterProps) {
  const { query, onQuery, onSubmit, found, months, month, onMonth } = props
  const search = translate('Search session…')
  return (
    <div className={styles.filter}>
      <SearchBox
        label={search}
        placeholder={search}
        query={query}
        onQuery={onQuery}
        onSubmit={onSubmit}
        found={found}
      />
      <label className={styles.month}>
        {translate('Month')}
        <select value={month} onChange={(event) => onMonth(event.target.value)}>
          <option value="">{translate('All')}</option>
          {months.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}
