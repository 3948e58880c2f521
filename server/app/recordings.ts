// Chooses the recordings to serve: the configured folder, or the demo library, created on first
// use.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/load-config.ts'
import { createDemoLibrary } from '../demo/demo-library.ts'
import { AppError } from '../errors.ts'
import type { Io } from './io.ts'

const DEMO_FOLDER = 'demo-library'

/**
 * The folder to serve.
 *
 * @throws AppError `usage` if the configured path is not a folder
 */
export async function chooseRecordings(config: Config, io: Io): Promise<string> {
  if (config.recordings !== undefined) return requireFolder(config.recordings)
  const folder = join(config.data, DEMO_FOLDER)
  await createDemoLibrary(folder, { onProgress: (line) => io.stderr(line), signal: io.signal })
  return folder
}

async function requireFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() === true) return folder
  throw new AppError('usage', `recordings: no such folder: ${folder}`)
}
