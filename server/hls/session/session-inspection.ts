// What is known of a session's recordings together: how long they are, what of them is flawed, or why none plays. Pure.
import type { SessionLimitation } from '../../problem.ts'
import type { Inspection } from '../../media/index/inspect-recording.ts'
import { durationSeconds, MAX_LIMITATIONS } from '../../media/media-index.ts'

/** What the catalog and `check` want to know of a session. */
export type SessionInspection =
  | { status: 'playable'; durationSeconds: number; limitations: SessionLimitation[] }
  | Extract<Inspection, { status: 'unplayable' }>

/** A part of a session; the name is empty where it is the only recording. */
interface InspectedPart {
  name: string
  inspection: Inspection
}

/** All that plays counts; where nothing does, the first reason is told. */
export function joinInspections(parts: readonly InspectedPart[]): SessionInspection {
  const limitations: SessionLimitation[] = []
  let seconds = 0
  for (const part of parts) {
    limitations.push(...limitationsOf(part, seconds))
    if (part.inspection.status === 'playable') seconds += durationSeconds(part.inspection.index)
  }
  if (parts.some(({ inspection }) => inspection.status === 'playable')) {
    return {
      status: 'playable',
      durationSeconds: seconds,
      limitations: limitations.slice(0, MAX_LIMITATIONS),
    }
  }
  const [first] = parts
  if (first?.inspection.status === 'unplayable') return first.inspection
  return { status: 'unplayable', reason: { code: 'session-empty' } }
}

/** Limitations of a part that starts at `startSeconds` of the session. */
function limitationsOf(
  { name, inspection }: InspectedPart,
  startSeconds: number,
): SessionLimitation[] {
  const part = name === '' ? {} : { part: name }
  if (inspection.status === 'unplayable') {
    const { reason: cause } = inspection
    const offset = 'offsetBytes' in cause ? { offsetBytes: cause.offsetBytes } : {}
    return [{ code: 'part-unplayable', cause, seconds: startSeconds, ...offset, ...part }]
  }
  const { index } = inspection
  return (index.limitations ?? []).map((limitation) => {
    // A truncated recording ends where it is truncated.
    const seconds = limitation.code === 'truncated' ? durationSeconds(index) : limitation.seconds
    return {
      ...limitation,
      ...(seconds !== undefined && { seconds: seconds + startSeconds }),
      ...part,
    }
  })
}
