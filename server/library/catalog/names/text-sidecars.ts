// Sidecars with the text of a session, by name, and the signature by which a change is noticed.
import { createHash } from 'node:crypto'
import { sessionTextFields } from '../../../../shared/contract.ts'
import type { StorageEntry } from '../../../storage/recordings/storage.ts'

/** Endings after the name of a recording or a session folder. */
export const TEXT_SIDECARS = ['.info.json', '.nfo'] as const

/** Versions of files by name. */
export type SidecarVersions = ReadonlyMap<string, string>

/** The last name stands for how the start is read. After a change, all sidecars are read again. */
const FIELDS = [...Object.keys(sessionTextFields), 'starts']

const none: SidecarVersions = new Map()

/** The versions of the entries that may be such sidecars, as far as the listing has stats. */
export function listSidecars(entries: readonly StorageEntry[]): SidecarVersions {
  let found: Map<string, string> | undefined
  for (const { name, kind, stat } of entries) {
    if (kind !== 'file' || stat === undefined || !isTextSidecar(name)) continue
    found ??= new Map()
    found.set(name, stat.version)
  }
  return found ?? none
}

/** Whether a file may be such a sidecar. */
export function isTextSidecar(name: string): boolean {
  return TEXT_SIDECARS.some((ending) => name.endsWith(ending))
}

/**
 * Identifies the versions of the sidecars with these bases (names without the ending), and what is
 * read of them: a release that reads more reads them again. Empty if there are none.
 */
export function signSidecars(bases: readonly string[], versions: SidecarVersions): string {
  if (versions.size === 0) return ''
  const signed = bases.flatMap((base) =>
    TEXT_SIDECARS.flatMap((ending) => {
      const version = versions.get(base + ending)
      return version === undefined ? [] : [[base + ending, version]]
    }),
  )
  if (signed.length === 0) return ''
  return createHash('sha256')
    .update(JSON.stringify([FIELDS, signed]))
    .digest('base64url')
    .slice(0, 22)
}
