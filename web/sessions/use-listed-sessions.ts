// The sessions with their details, as soon as they can be shown without a shift.
import { useMemo } from 'react'
import type { DetailsResponse, SessionItem } from '../../shared/contract.ts'
import type { LoadState } from '../api/resource.ts'
import { useDelayed } from '../ui/use-delayed.ts'
import { describeSessions } from './listed-sessions.ts'
import type { ListedSession } from './listed-sessions.ts'

/** How long the list waits for its details: titles that arrive later make the cards taller. */
const DETAILS_WAIT_MS = 500
const NO_DETAILS: DetailsResponse['sessions'] = []

/** `undefined` while loading; empty after a failure. */
export function useListedSessions(
  list: LoadState<SessionItem[]>,
  details: LoadState<DetailsResponse>,
): ListedSession[] | undefined {
  const isWaiting = list.status === 'loaded' && details.status === 'loading'
  const hasWaited = useDelayed(isWaiting, DETAILS_WAIT_MS)
  const sessions = list.status === 'loaded' ? list.value : undefined
  const known = details.status === 'loaded' ? details.value.sessions : NO_DETAILS
  const listed = useMemo(() => sessions && describeSessions(sessions, known), [sessions, known])
  if (list.status === 'failed') return NONE
  return isWaiting && !hasWaited ? undefined : listed
}

const NONE: ListedSession[] = []
