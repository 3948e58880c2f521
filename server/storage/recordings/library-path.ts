// Library paths: components joined by `/`, '' for the root. Only storage turns them into file
// system paths.

/** Path of an entry in a folder; of the folder itself without a name. */
export function joinPath(folder: string, name: string): string {
  return folder === '' || name === '' ? folder + name : `${folder}/${name}`
}

/** The parent folder of a path; the root for the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0))
}

/** A path's parent folder and its last component; undefined for the root. */
export function splitPath(path: string): { folder: string; name: string } | undefined {
  if (path === '') return undefined
  return { folder: folderOf(path), name: path.slice(path.lastIndexOf('/') + 1) }
}
