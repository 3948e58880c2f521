// Classifies the entries of a folder.
import type { Dirent } from 'node:fs'
import { isVisibleName } from '../visible-path.ts'

/** Names in a folder, as reported by the system. */
export interface FolderEntries {
  files: string[]
  folders: string[]
  /** Entries that need a further check. */
  odd: OddEntry[]
}

/** A link, something that is neither file nor folder, or a name that may not be the one on disk. */
export interface OddEntry {
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
}

/** Classifies entries; hidden ones are ignored. */
export function sortEntries(found: readonly Dirent[]): FolderEntries {
  const sorted: FolderEntries = { files: [], folders: [], odd: [] }
  for (const dirent of found) {
    const { name } = dirent
    if (!isVisibleName(name)) continue
    const kind = kindOf(dirent)
    if (mayBeMisread(name)) sorted.odd.push({ name, kind })
    else if (kind === 'file') sorted.files.push(name)
    else if (kind === 'folder') sorted.folders.push(name)
    else sorted.odd.push({ name, kind })
  }
  return sorted
}

/** Whether a name contained invalid UTF-8: no file can be opened by it. */
export function mayBeMisread(name: string): boolean {
  return name.includes('\uFFFD')
}

function kindOf(dirent: Dirent): OddEntry['kind'] {
  if (dirent.isFile()) return 'file'
  if (dirent.isDirectory()) return 'folder'
  return dirent.isSymbolicLink() ? 'link' : 'other'
}
