// Reads a recording once: who it is, and where its tracks and key frames lie.
import { isAppError } from '../errors.ts'
import type { FailureDetails } from '../errors.ts'
import type { OpenFile, Storage } from '../storage/storage.ts'
import { readIdentity } from './identity.ts'
import type { MediaIndex } from './media-index.ts'
import type { MediaReaders } from './readers.ts'

/** What is known of a recording: its index, or why it has none. A plain value. */
export type Inspection =
  | { status: 'playable'; identity: string; index: MediaIndex }
  | { status: 'unplayable'; reason: string; details?: FailureDetails }

/** Inspects the recording at `path`. Throws where it could not be read; a damaged one is a result, not an error. */
export async function inspectRecording(
  path: string,
  { storage, readers, signal }: { storage: Storage; readers: MediaReaders; signal: AbortSignal },
): Promise<{ inspection: Inspection; sizeBytes: number; modifiedMs: number }> {
  const file = await storage.open(path)
  try {
    return { inspection: await inspectFile(file, { readers, signal }), ...file.stat }
  } finally {
    await file.close()
  }
}

async function inspectFile(
  file: OpenFile,
  { readers, signal }: { readers: MediaReaders; signal: AbortSignal },
): Promise<Inspection> {
  try {
    const reader = await readers.forFile(file)
    const index = await reader.index(file, signal)
    return { status: 'playable', identity: await readIdentity(file), index }
  } catch (error) {
    if (!isAppError(error, 'unplayable')) throw error
    const { message: reason, details } = error
    return { status: 'unplayable', reason, ...(details && { details }) }
  }
}
