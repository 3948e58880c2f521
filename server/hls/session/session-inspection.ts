// What is known of a session's recordings together: how long they are, what of them is flawed, or why none plays. Pure.
import type { Inspection } from '../../media/index/inspect-recording.ts'
import { durationSeconds, MAX_LIMITATIONS } from '../../media/media-index.ts'
import type { RecordingLimitation } from '../../media/media-index.ts'

/** What the catalog and `check` want to know of a session. */
export type SessionInspection =
  | { status: 'playable'; durationSeconds: number; limitations: SessionLimitation[] }
  | Extract<Inspection, { status: 'unplayable' }>

/** A flaw of a session that plays; times are on the session's timeline. `part-left-out`: a part cannot be played. */
export interface SessionLimitation extends Omit<RecordingLimitation, 'kind'> {
  kind: RecordingLimitation['kind'] | 'part-left-out'
}

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
  return { status: 'unplayable', reason: 'the session has no recordings' }
}

/** Notes of a part that begins at `startSeconds` of the session, each with the part's name. */
function limitationsOf(
  { name, inspection }: InspectedPart,
  startSeconds: number,
): SessionLimitation[] {
  const prefix = name === '' ? '' : `${name}: `
  if (inspection.status === 'unplayable') {
    const { reason, details } = inspection
    const { offsetBytes } = details ?? {}
    return [
      {
        kind: 'part-left-out',
        message: prefix + reason,
        seconds: startSeconds,
        ...(offsetBytes !== undefined && { offsetBytes }),
      },
    ]
  }
  const { index } = inspection
  return (index.limitations ?? []).map((note) => {
    // Where a recording is cut off, it ends.
    const seconds = note.kind === 'cut-off' ? durationSeconds(index) : note.seconds
    return {
      ...note,
      message: prefix + note.message,
      ...(seconds !== undefined && { seconds: seconds + startSeconds }),
    }
  })
}
