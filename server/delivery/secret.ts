// The secret that keys are derived from, where the configuration names none: made once, kept in the data folder.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { writeAtomically } from '../storage/atomic-write.ts'

const FILE_NAME = 'hls-secret'
const SECRET_BYTES = 32

/**
 * Reads the secret, or makes it. Processes that start at once agree on one: the first to finish wins.
 *
 * @throws AppError `failed` where the data folder can be neither read nor written
 */
export async function readOrMakeSecret(dataFolder: string): Promise<string> {
  const path = join(dataFolder, FILE_NAME)
  try {
    const known = await readFile(path, 'utf8').catch(ifMissing)
    if (known !== undefined && known !== '') return known
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
