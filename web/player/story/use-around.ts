// Loads the sessions of other streamers at the same time, once the details name their URL.
import { useEffect, useState } from 'react'
import { aroundResponse } from '../../../shared/around-response.ts'
import type { AroundResponse } from '../../../shared/around-response.ts'
import type { SessionResponse } from '../../../shared/contract.ts'
import { parseShape } from '../../../shared/shape.ts'
import type { LoadState } from '../../api/resource.ts'

export type SessionAround = AroundResponse['sessions'][number]

interface Around {
  sessions: readonly SessionAround[]
  /** Whether there will be no others. */
  isSettled: boolean
}

const TIMEOUT_MS = 30_000
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

async function load(url: URL, left: AbortSignal): Promise<SessionAround[]> {
  const signal = AbortSignal.any([left, AbortSignal.timeout(TIMEOUT_MS)])
  const response = await fetch(url, { signal })
  return parseShape(aroundResponse, await response.json()).sessions
}
