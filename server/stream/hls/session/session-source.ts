// The input of this folder: a row of the catalog.
import type { SessionReference } from '../../../../shared/paths.ts'

/** A session as the catalog lists it: its names, and where it is stored. */
export interface SessionSource extends SessionReference {
  /** Library path of the recording, or of the folder of parts. */
  path: string
  kind: 'file' | 'folder'
  /** Start in milliseconds since 1970, if it is known. */
  startMs?: number | undefined
}
