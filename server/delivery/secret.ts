// The secret that keys are derived from, if the configuration has none: a file in the data folder.
import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../errors.ts'

const FILE_NAME = 'hls-secret'
const SECRET_BYTES = 32

/**
 * Reads the secret, or creates it. Of processes that start at once, the first one to finish wins.
 *
 * @throws AppError `failed` if the data folder cannot be read or written
 */
export async function readOrCreateSecret(dataFolder: string): Promise<string> {
  const path = join(dataFolder, FILE_NAME)
  try {
    const existing = await readFile(path, 'utf8').catch(ifMissing)
    if (existing !== undefined && existing !== '') return existing
    await mkdir(dataFolder, { recursive: true })
    const temporary = `${path}.${randomUUID()}.tmp`
    await writeFile(temporary, randomBytes(SECRET_BYTES).toString('base64url'), { mode: 0o600 })
    await link(temporary, path).catch(ifExists)
    await rm(temporary)
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new AppError('failed', `the data folder cannot be used: ${dataFolder}`, { cause })
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function ifExists(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error
}
