// Inspects the recordings of a session: their duration and limitations, or why none is playable.
import { UnplayableError } from '../../../base/errors.ts'
import type { IndexStore } from '../../../media/index/index-store.ts'
import type { Inspection } from '../../../media/index/inspect-recording.ts'
import { durationSeconds, MAX_LIMITATIONS } from '../../../media/media-index.ts'
import type { SessionLimitation } from '../../../base/problem.ts'
import type { FileStat, Storage } from '../../../storage/recordings/storage.ts'
import { mapConcurrently } from './map-concurrently.ts'
import type { PartFile, PartFolders } from './part-folders.ts'
import { partStart } from './part-requests.ts'
import type { SessionSource } from './session-source.ts'

/** The inspections of a session's recordings, joined. */
export type SessionInspection =
  | {
      status: 'playable'
      durationSeconds: number
      /** Start of the first playable recording by its own, in milliseconds since 1970. */
      startMs?: number | undefined
      limitations: SessionLimitation[]
      /** Codecs of the video (RFC 6381), each once. */
      videoCodecs: string[]
    }
  | Extract<Inspection, { status: 'unplayable' }>

export interface InspectedSource extends Pick<SessionSource, 'path' | 'kind'> {
  /** Inspects a file as it was then. */
  stat?: FileStat
}

export interface InspectionOptions {
  storage: Storage
  indexes: IndexStore
  partFolders: PartFolders
  signal: AbortSignal
}

/** @throws AppError `not_found`, `gone` (the file has changed), `failed`; the signal's reason */
export async function inspectSession(
  { path, kind, stat }: InspectedSource,
  { storage, indexes, partFolders, signal }: InspectionOptions,
): Promise<SessionInspection> {
  const inspect = async (file: PartFile) => ({
    name: file.name,
    startMs: partStart(file)?.ms,
    inspection: (await indexes.find(file.path, file.stat, signal)).inspection,
  })
  if (kind === 'file') {
    return joinInspections([
      // A row of an older catalog has no version.
      await inspect({ name: '', path, stat: stat?.version ? stat : await storage.stat(path) }),
    ])
  }
  try {
    return joinInspections(await mapConcurrently(await partFolders.listNow(path), inspect))
  } catch (error) {
    if (!(error instanceof UnplayableError)) throw error
    return { status: 'unplayable', reason: error.reason }
  }
}

/** A part of a session; the name is empty if it is the only recording. */
interface InspectedPart {
  name: string
  startMs?: number | undefined
  inspection: Inspection
}

/** Sums up all playable parts; if there is none, returns the first reason. */
export function joinInspections(parts: readonly InspectedPart[]): SessionInspection {
  const limitations: SessionLimitation[] = []
  let seconds = 0
  for (const part of parts) {
    limitations.push(...limitationsOf(part, seconds))
    if (part.inspection.status === 'playable') seconds += durationSeconds(part.inspection.index)
  }
  const playable = parts.find(({ inspection }) => inspection.status === 'playable')
  if (playable !== undefined) {
    return {
      status: 'playable',
      durationSeconds: seconds,
      startMs: playable.startMs,
      limitations: limitations.slice(0, MAX_LIMITATIONS),
      videoCodecs: [...new Set(parts.flatMap(videoCodecsOf))],
    }
  }
  const [first] = parts
  if (first?.inspection.status === 'unplayable') return first.inspection
  return { status: 'unplayable', reason: { code: 'session-empty' } }
}

function videoCodecsOf({ inspection }: InspectedPart): string[] {
  if (inspection.status === 'unplayable') return []
  const { tracks } = inspection.index
  return tracks.filter(({ kind }) => kind === 'video').map(({ codec }) => codec)
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
