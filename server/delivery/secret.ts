// The secret that keys are derived from, if the configuration has none: a file in the data folder.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { writeAtomically } from '../storage/atomic-write.ts'

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
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    await writeAtomically(path, secret, { existing: 'keep', mode: 0o600 })
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new AppError('failed', `the data folder cannot be used: ${dataFolder}`, { cause })
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
