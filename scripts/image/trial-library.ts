// A small library of fixtures for the trials of an image.
import { chmod, copyFile, mkdir, utimes } from 'node:fs/promises'
import path from 'node:path'
import { fixturePath } from '../../test/support/temp-library.ts'

export interface TrialLibrary {
  /** For what a trial writes. */
  folder: string
  recordings: string
  /** As in URLs. */
  sessions: readonly string[]
}

/** Video and AAC as recorded; MP3, which the decoders transcode. */
const RECORDINGS = {
  'alice/2026-01-31/1001': 'mp4-h264-aac-moov-first.mp4',
  'alice/2026-01-31/1002': 'mp4-h264-mp3.mp4',
}

export async function makeTrialLibrary(folder: string): Promise<TrialLibrary> {
  const recordings = path.join(folder, 'recordings')
  for (const [session, fixture] of Object.entries(RECORDINGS)) {
    const target = path.join(recordings, `${session}.mp4`)
    await mkdir(path.dirname(target), { recursive: true })
    await copyFile(fixturePath(fixture), target)
    await utimes(target, 0, 0)
  }
  // Other users read it.
  await chmod(folder, 0o755)
  return { folder, recordings, sessions: Object.keys(RECORDINGS) }
}
