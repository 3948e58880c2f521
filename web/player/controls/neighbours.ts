// The sessions before and after one, in the order of the streamer's list.
import type { SessionItem, SessionText } from '../../../shared/contract.ts'
import type { SessionReference } from '../../../shared/paths.ts'

export type Neighbour = SessionReference & Pick<SessionText, 'title'>

export interface Neighbours {
  /** Older; undefined if there is none. */
  previous: Neighbour | undefined
  /** Newer. */
  next: Neighbour | undefined
  /** The older ones, the next older first; at most three. */
  older: Neighbour[]
}

/** More do not fit over the video. */
const MAX_OLDER = 3

/** `sessions` are listed newest first. A session that is not listed has no neighbours. */
export function findNeighbours(
  sessions: readonly (SessionItem & SessionText)[],
  current: SessionReference,
): Neighbours {
  const at = sessions.findIndex(
    ({ date, sessionId }) => date === current.date && sessionId === current.sessionId,
  )
  if (at === -1) return { previous: undefined, next: undefined, older: [] }
  const older = sessions.slice(at + 1, at + 1 + MAX_OLDER).map((item) => toReference(item, current))
  const newer = sessions[at - 1]
  return { previous: older[0], next: newer && toReference(newer, current), older }
}

function toReference(
  { date, sessionId, title }: SessionItem & SessionText,
  { streamer }: SessionReference,
): Neighbour {
  return { streamer, date, sessionId, ...(title !== undefined && { title }) }
}
