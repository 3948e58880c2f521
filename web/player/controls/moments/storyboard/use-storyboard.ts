// The storyboard of a session, and the layout of the timeline that it allows.
import { useEffect, useState } from 'react'
import type { SessionResponse } from '../../../../../shared/contract.ts'
import type { LoadState } from '../../../../api/resource.ts'
import { useDelayed } from '../../../../ui/use-delayed.ts'
import type { Playback } from '../../../playback/playback.ts'
import { followStoryboard } from './follow-storyboard.ts'
import type { StoryboardFrame } from './parse-storyboard.ts'

export interface Storyboard {
  /** In order; undefined until they are loaded, empty if there are none. */
  frames: readonly StoryboardFrame[] | undefined
  /** The height of the timeline. Decided once: what is below would move. Undefined until then. */
  room: 'strip' | 'line' | undefined
}

interface StoryboardOptions {
  details: LoadState<SessionResponse>
  /** URL of the API on which the paths of the details are based. */
  base: string
  playback: Playback
}

/**
 * Without details after this time, the room of a strip is reserved. Chapters and menus that come
 * later move the controls.
 */
const DECISION_MS = 2000

/** Loads the storyboard once the details contain its URL. */
export function useStoryboard({ details, base, playback }: StoryboardOptions): Storyboard {
  const path = details.status === 'loaded' ? details.value.storyboard?.url : undefined
  const isAbsent = details.status !== 'loading' && path === undefined
  const [frames, setFrames] = useState<readonly StoryboardFrame[]>()
  const [room, setRoom] = useState<Storyboard['room']>()
  const isLate = useDelayed(room === undefined, DECISION_MS)
  if (room === undefined && (isLate || details.status !== 'loading')) {
    setRoom(isAbsent ? 'line' : 'strip')
  }

  useEffect(() => {
    if (path === undefined) return undefined
    const { href: url } = new URL(path, new URL(base, location.href))
    return followStoryboard({ url, playback, onFrames: setFrames })
  }, [path, base, playback])
  return { frames: isAbsent ? NO_FRAMES : frames, room }
}

const NO_FRAMES: readonly StoryboardFrame[] = []
