// Creates libraries in temporary folders for tests that start the program.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeTempFolder } from './temp-folder.ts'

/** Long enough ago that no recording counts as growing. */
export const RECORDED_AT = new Date('2026-02-01T00:00:00Z')

/** A small playable recording: ten seconds of H.264 and AAC in MP4. */
export const SMALL_FIXTURE = 'mp4-h264-aac-editlist-video-starts-1s.mp4'
/** A recording that no reader can parse. */
export const BROKEN_FIXTURE = 'mp4-unreadable-malformed-box.mp4'

/** A folder with a library and a data folder. */
export interface TempLibrary {
  folder: string
  recordings: string
  data: string
  /** Arguments for `serve`. */
  args: string[]
  /**
   * Copies a fixture, or writes bytes, to a path of the library; old unless `modified` is given.
   */
  place(libraryPath: string, content: string | Uint8Array, modified?: Date): Promise<void>
  /** Real path of a library path. */
  pathOf(libraryPath: string): string
  remove(): Promise<void>
}

/** An empty library, which is removed after the tests of the file at the latest. */
export async function createTempLibrary(name: string): Promise<TempLibrary> {
  const folder = makeTempFolder(name)
  const recordings = path.join(folder, 'recordings')
  const data = path.join(folder, 'data')
  await mkdir(recordings)
  const pathOf = (libraryPath: string): string => path.join(recordings, libraryPath)
  return {
    folder,
    recordings,
    data,
    args: [recordings, '--data', data],
    pathOf,
    async place(libraryPath, content, modified = RECORDED_AT) {
      const target = pathOf(libraryPath)
      // Written elsewhere first: a server must not see a part of it.
      const incoming = path.join(folder, `incoming-${randomUUID()}`)
      await mkdir(path.dirname(target), { recursive: true })
      if (typeof content === 'string') await copyFile(fixturePath(content), incoming)
      else await writeFile(incoming, content)
      await utimes(incoming, modified, modified)
      await rename(incoming, target)
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Path of a media fixture. */
export function fixturePath(name: string): string {
  return path.resolve(import.meta.dirname, '../fixtures/media', name)
}

/** The small recording with the name in a box that every reader skips, so that its bytes differ. */
export function makeSmallRecording(name: string): Buffer {
  const box = Buffer.from(`0000free${name}`)
  box.writeUInt32BE(box.length)
  return Buffer.concat([readFileSync(fixturePath(SMALL_FIXTURE)), box])
}
