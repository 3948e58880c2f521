// The cards of a streamer's sessions, in one list or by month.
import { memo } from 'react'
import type { CSSProperties, ReactElement } from 'react'
import { CardArea, CardGrid } from '../ui/card-list.tsx'
import { useRenderedCount } from '../ui/use-rendered-count.ts'
import { translate } from '../language/translate.ts'
import { groupByMonth } from './listed-sessions.ts'
import type { ListedSession } from './listed-sessions.ts'
import styles from './session-list.module.css'

interface SessionListProps {
  /** The same array as long as the matches do not change. */
  sessions: ListedSession[]
  order: 'plain' | 'by month'
  /** Each card has the session's key. */
  renderCard(this: void, session: ListedSession, position: number): ReactElement
  /** The share of the list that an earlier visit has scrolled through, 0 to 1. */
  seenShare: number
}

/** Memoised: a keystroke in the search box appears before thousands of cards are compared. */
export const SessionList = memo(function SessionList(props: SessionListProps) {
  const { sessions, order, renderCard, seenShare } = props
  const count = useRenderedCount(sessions.length, seenShare)
  const cards = sessions.slice(0, count).map(renderCard)
  return (
    <CardArea layout="wide">
      {order === 'plain' ? (
        <CardGrid label={translate('Sessions')} cards={cards} />
      ) : (
        groupByMonth(sessions.slice(0, count)).map(({ key, label, start, end }) => (
          <div key={key} className={styles.month} style={rowsOf(end - start)}>
            <h2 className={styles.heading}>{label}</h2>
            <CardGrid label={translate('Sessions')} cards={cards.slice(start, end)} />
          </div>
        ))
      )}
    </CardArea>
  )
})

/** The number of rows with one, two and three columns, for the height of a month not laid out. */
function rowsOf(count: number): CSSProperties {
  const rows = [1, 2, 3].map((columns) => [`--rows-of-${columns}`, Math.ceil(count / columns)])
  return Object.fromEntries(rows)
}
