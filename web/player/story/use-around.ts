// Loads the sessions of other streamers at the same time, once the details name their URL.
import { useEffect, useState } from 'react'
import { aroundResponse } from '../../../shared/around-response.ts'
import type { AroundResponse } from '../../../shared/around-response.ts'
import type { SessionResponse } from '../../../shared/contract.ts'
import { parseShape } from '../../../shared/shape.ts'
import { fetchJson } from '../../api/page-api.ts'
import type { LoadState } from '../../api/resource.ts'

export type SessionAround = AroundResponse['sessions'][number]

/** What is known of them. */
export interface Around {
  sessions: readonly SessionAround[]
  /** Whether there will be no others. */
  isSettled: boolean
}

const NONE: readonly SessionAround[] = []

/** @param base URL of the API on which the paths of the details are based */
export function useAround(details: LoadState<SessionResponse>, base: string): Around {
  const path = details.status === 'loaded' ? details.value.around?.url : undefined
  const [sessions, setSessions] = useState<readonly SessionAround[]>()
  useEffect(() => {
    if (path === undefined) return undefined
    const left = new AbortController()
    load(new URL(path, new URL(base, location.href)), left.signal).then(setSessions, () => {
      if (!left.signal.aborted) setSessions(NONE)
    })
    return () => left.abort()
  }, [path, base])
  const isAbsent = details.status !== 'loading' && path === undefined
  return { sessions: sessions ?? NONE, isSettled: isAbsent || sessions !== undefined }
}

async function load(url: URL, signal: AbortSignal): Promise<SessionAround[]> {
  return parseShape(aroundResponse, await fetchJson(url.href, signal)).sessions
}
