// Creates a folder with its parents, one at a time: below `/proc`, the recursive `mkdir` of Node
// retries for ever.
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../../base/errors.ts'

/** Rejects with the system's error. A path that exists is left as it is, whatever it is. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await mkdir(path)
  }
}
