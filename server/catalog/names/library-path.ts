// Library paths as plain text: parts joined by `/`, '' for the root. Only storage makes real paths of them.

/** Path of a name inside a folder. */
export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** The folder that holds a path, and the path's own name; undefined for the root, which nothing holds. */
export function splitPath(path: string): { folder: string; name: string } | undefined {
  if (path === '') return undefined
  const slash = path.lastIndexOf('/')
  return { folder: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) }
}
