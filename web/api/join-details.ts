// Joins a list of sessions with its details.
import { sessionText } from '../../shared/contract.ts'
import type { DetailsResponse, SessionText } from '../../shared/contract.ts'

interface Named {
  date: string
  sessionId: string
}

/** What a card shows of a session beside its names. */
export interface DescribedSession extends SessionText {
  isGrowing: boolean
}

/** Adds the details, which may be missing or older than the list. */
export function joinDetails<T extends Named>(
  sessions: readonly T[],
  details: DetailsResponse['sessions'],
): (T & DescribedSession)[] {
  const detailsByKey = new Map(details.map((detail) => [keyOf(detail), detail]))
  return sessions.map((session) => {
    const detail = detailsByKey.get(keyOf(session))
    return { ...session, ...sessionText(detail), isGrowing: detail?.growing === true }
  })
}

/** A date contains no slash. */
function keyOf({ date, sessionId }: Named): string {
  return `${date}/${sessionId}`
}
