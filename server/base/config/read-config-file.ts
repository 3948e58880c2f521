// Reads the configuration file.
import { open, stat } from 'node:fs/promises'
import path from 'node:path'
import { AppError, codeOf, reasonOf } from '../errors.ts'
import type { ConfigFile } from './load-config.ts'

export const defaultConfigName = 'aftercast.config.json'

const largestFileBytes = 1024 * 1024

/** Locations of the configuration file. */
export interface ConfigFileWish {
  /** Path given with `--config`; by default the standard name, which may be missing. */
  named?: string | undefined
  workingFolder: string
}

/** The file's path and JSON value; undefined without a file. @throws AppError `usage` */
export async function readConfigFile(wish: ConfigFileWish): Promise<ConfigFile | undefined> {
  const file = path.resolve(wish.workingFolder, wish.named ?? defaultConfigName)
  if (wish.named === undefined && (await isHidden(file))) return undefined
  const content = await readBounded(file)
  if (content !== undefined) return { path: file, value: parse(file, content) }
  if (wish.named === undefined) return undefined
  throw new AppError('usage', `--config: no such file: ${file}`)
}

/** In a folder that this user may not enter, as root's is for `runuser -u aftercast …`. */
async function isHidden(file: string): Promise<boolean> {
  return stat(file).then(
    () => false,
    (error: unknown) => codeOf(error) === 'EACCES',
  )
}

async function readBounded(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file, 'r')
    const { size } = await handle.stat()
    if (size > largestFileBytes) throw new AppError('usage', `${file} is larger than 1 MiB`)
    return await handle.readFile('utf8')
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    if (codeOf(cause) === 'ENOENT') return undefined
    throw new AppError('usage', `${file} is not readable: ${reasonOf(cause)}`, { cause })
  }
}

function parse(file: string, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw new AppError('usage', `${file} is not JSON: ${reasonOf(cause)}`, { cause })
  }
}
