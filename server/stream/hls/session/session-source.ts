// The input of this folder: a row of the catalog.
import type { SessionResponse } from '../../../../shared/contract.ts'
import type { SessionReference } from '../../../../shared/paths.ts'

/** A session as the catalog lists it: its names, and where it is stored. */
export interface SessionSource extends SessionReference {
  /** Library path of the recording, or of the folder of parts. */
  path: string
  kind: 'file' | 'folder'
  /** Start by the catalog in milliseconds since 1970, if it is known. */
  startMs?: number | undefined
  /** What that is from. Absent: what the recording itself has is as good. */
  startFrom?: 'metadata' | undefined
}

/** When a session or a part of it started, in milliseconds since 1970. */
export interface KnownStart {
  ms: number
  /** Sidecars, a recorder's playlist, or a time in a name. */
  from: NonNullable<SessionResponse['startTimeFrom']>
}
