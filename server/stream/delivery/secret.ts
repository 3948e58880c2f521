// The secret that keys are derived from, if the configuration has none: a file in the data folder.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, unusableData } from '../../base/errors.ts'
import { writeAtomically } from '../../storage/recordings/atomic-write.ts'

/** Name in the data folder. */
export const SECRET_FILE = 'hls-secret'
const SECRET_BYTES = 32
/** At least as long as a generated one. A power failure leaves a prefix, zeros, or nothing. */
const COMPLETE = /^[\x21-\x7e]{43,4096}\s*$/

/** Receives one line for the operator. */
export type SecretLog = (message: string) => void

/**
 * Reads the secret, or creates it. Of processes that start at once, the first one to finish wins.
 * An empty or torn file is replaced, with a line in the log: URLs of segments change.
 *
 * @throws AppError `failed` if the data folder cannot be read or written
 */
export async function readOrCreateSecret(dataFolder: string, log: SecretLog): Promise<string> {
  const path = join(dataFolder, SECRET_FILE)
  try {
    const found = await readFile(path, 'utf8').catch(ifMissing)
    if (found !== undefined && COMPLETE.test(found)) return found
    if (found !== undefined) {
      log(`${path} is empty or torn; it is replaced, and all segments have new URLs`)
    }
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    const existing = found === undefined ? 'keep' : 'replace'
    await writeAtomically(path, secret, { existing, mode: 0o600, sync: true })
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw unusableData(dataFolder, cause)
  }
}

/**
 * Replaces the secret with that of all nodes, if it is another one.
 *
 * @throws AppError `failed` if the secret is unusable, or the data folder cannot be written
 */
export async function adoptSecret(dataFolder: string, secret: string): Promise<void> {
  if (!COMPLETE.test(secret)) throw new AppError('failed', 'database: its HLS secret is unusable')
  const path = join(dataFolder, SECRET_FILE)
  try {
    if ((await readFile(path, 'utf8').catch(ifMissing)) === secret) return
    await writeAtomically(path, secret, { existing: 'replace', mode: 0o600, sync: true })
  } catch (cause) {
    throw unusableData(dataFolder, cause)
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
