// What a folder of the disk holds, sorted by what is to be done about it.
import type { Dirent } from 'node:fs'
import { isVisibleName } from './storage-path.ts'

/** Names in a folder, as the system told them. */
export interface FolderEntries {
  files: string[]
  folders: string[]
  /** What needs a closer look. */
  odd: OddEntry[]
}

/** A link, what is neither file nor folder, or a name that may not be the one on the disk. */
export interface OddEntry {
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
}

/** Sorts entries; hidden ones are left out. */
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

/** Whether bytes of a name were no UTF-8: then no file is found by it. */
export function mayBeMisread(name: string): boolean {
  return name.includes('\uFFFD')
}

function kindOf(dirent: Dirent): OddEntry['kind'] {
  if (dirent.isFile()) return 'file'
  if (dirent.isDirectory()) return 'folder'
  return dirent.isSymbolicLink() ? 'link' : 'other'
}
