// Library paths: components joined by `/`, '' for the root. Only storage turns them into file
// system paths.

/** Path of an entry in a folder. */
export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** A path's parent folder and its last component; undefined for the root. */
export function splitPath(path: string): { folder: string; name: string } | undefined {
  if (path === '') return undefined
  const slash = path.lastIndexOf('/')
  return { folder: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) }
}
