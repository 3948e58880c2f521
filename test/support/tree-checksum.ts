// One checksum of a folder tree: names, kinds, sizes, times and bytes of all entries.
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import path from 'node:path'

/** Changes with anything in the folder or its subfolders. */
export async function checksumTree(folder: string): Promise<string> {
  const hash = createHash('sha256')
  const names = (await readdir(folder, { recursive: true })).toSorted()
  for (const name of names) {
    const full = path.join(folder, name)
    const stats = await lstat(full)
    hash.update(JSON.stringify([name, stats.mode, stats.size, stats.mtimeMs, stats.ino]))
    if (stats.isSymbolicLink()) hash.update(await readlink(full))
    else if (stats.isFile()) hash.update(await readFile(full))
  }
  return hash.digest('hex')
}
