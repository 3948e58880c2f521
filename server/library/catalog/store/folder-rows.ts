// Rows of folders: of each that has recordings or subfolders, and of no other.
import { splitPath } from '../../../storage/recordings/library-path.ts'
import type { FolderQueries } from './writer-queries.ts'

/**
 * The id of a folder's row, which is added with its ancestors if it is missing.
 *
 * @param ids by path, cached for one transaction
 */
export function ensureFolder(
  queries: Pick<FolderQueries, 'folder' | 'addFolder'>,
  path: string,
  ids: Map<string, number>,
): number {
  const known = ids.get(path) ?? queries.folder.get({ path })?.id
  const id = known ?? addFolder(queries, path, ids)
  ids.set(path, id)
  return id
}

function addFolder(
  queries: Pick<FolderQueries, 'folder' | 'addFolder'>,
  path: string,
  ids: Map<string, number>,
): number {
  const parent = splitPath(path)
  const parentId = parent ? ensureFolder(queries, parent.folder, ids) : null
  const added = queries.addFolder.get({ path, parentId })
  if (!added) throw new Error('an inserted folder has no id')
  return added.id
}

/** Removes a folder without recordings and subfolders, and then its ancestors likewise. */
export function removeEmptyFolder(
  queries: Pick<FolderQueries, 'removeEmptyFolder'>,
  id: number,
): void {
  const removed = queries.removeEmptyFolder.get({ id })
  if (typeof removed?.parentId === 'number') removeEmptyFolder(queries, removed.parentId)
}
