// What a recorder's folder with many segments costs, counted in calls of storage.
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { splitPackets } from '../../../../test/support/make/split-packets.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { fixturePath, RECORDED_AT } from '../../../../test/support/temp-library.ts'
import { createAdmission } from '../../../base/admission/limits.ts'
import { MAX_WHOLE_BYTES } from '../../../media/index/identity.ts'
import { IndexStore } from '../../../media/index/index-store.ts'
import { inspectRecording } from '../../../media/index/inspect-recording.ts'
import { readSubtitles } from '../../../media/index/read-subtitles.ts'
import { createMediaReaders } from '../../../media/readers.ts'
import { RecordedFolders } from '../../../media/recorded/read-recorded-folder.ts'
import { withRecordedPlaylists } from '../../../media/recorded/recorded-storage.ts'
import { BufferedFiles } from '../../../storage/recordings/buffered-files.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import type { OpenFile, Storage } from '../../../storage/recordings/storage.ts'
import { TranscodedAudio } from '../segment/transcoded-audio.ts'
import { PartFolders } from './part-folders.ts'
import { inspectSession } from './session-inspection.ts'
import { SessionOpener } from './session-opener.ts'

const SOURCE = {
  streamer: 'alice',
  date: '2026-01-31',
  sessionId: 'day',
  path: 'day',
  kind: 'folder',
} as const
/** A stat, an open, a read and a close. */
const MAX_CALLS_PER_SEGMENT = 4
/** For the playlist, the folder, samples of bytes, and reads that span two segments. */
const MAX_OTHER_CALLS_PER_RUN = 2
const MAX_OTHER_CALLS = 400
const { signal } = new AbortController()
/** Listings stay valid, however slow the machine is. */
const stoppedClock = (): number => 0

let root: string

beforeEach(() => {
  root = makeTempFolder('recorder-folder')
})

/** Runs of equal segments, each after a discontinuity. */
function makeFolder(runs: number, segments: readonly Uint8Array[]): void {
  mkdirSync(join(root, 'library/day'), { recursive: true })
  const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:6']
  for (let run = 0; run < runs; run += 1) {
    if (run > 0) lines.push('#EXT-X-DISCONTINUITY')
    for (const [i, bytes] of segments.entries()) {
      lines.push('#EXTINF:6,', `${run}-${i}.ts`)
      writeSettled(`${run}-${i}.ts`, bytes)
    }
  }
  writeSettled('playlist.m3u8', [...lines, '#EXT-X-ENDLIST', ''].join('\n'))
}

function writeSettled(name: string, content: string | Uint8Array): void {
  const path = join(root, 'library/day', name)
  writeFileSync(path, content)
  utimesSync(path, RECORDED_AT, RECORDED_AT)
}

interface Calls {
  ofSegments: number
  others: number
}

function countCalls(storage: Storage, calls: Calls): Storage {
  const count = (path: string): void => {
    if (path.endsWith('.ts')) calls.ofSegments += 1
    else calls.others += 1
  }
  const countFile = (path: string, file: OpenFile): OpenFile => ({
    stat: file.stat,
    async read(buffer, position) {
      count(path)
      return file.read(buffer, position)
    },
    async readv(buffers, position) {
      count(path)
      return file.readv(buffers, position)
    },
    async checkUnchanged() {
      count(path)
      return file.checkUnchanged()
    },
    async close() {
      count(path)
      return file.close()
    },
  })
  return {
    async list(folder, options) {
      count(folder)
      const entries = await storage.list(folder, options)
      for (const { name, stat } of entries) if (stat !== undefined) count(name)
      return entries
    },
    async stat(path, options) {
      count(path)
      return storage.stat(path, options)
    },
    async open(path, options) {
      count(path)
      return countFile(path, await storage.open(path, options))
    },
    watch: async (onChange, aborted) => storage.watch(onChange, aborted),
  }
}

/** Inspects the session as the scan does, then opens it as a visitor does. */
async function inspectAndPlay(): Promise<{ calls: Calls; segments: number }> {
  const calls: Calls = { ofSegments: 0, others: 0 }
  const files = countCalls(new FolderStorage(join(root, 'library')), calls)
  const folders = new RecordedFolders(files)
  const storage = withRecordedPlaylists(files, {
    read: async ({ path, known }) => folders.read(path, known),
    now: stoppedClock,
  })
  const readers = createMediaReaders()
  const limits = { maxFileBytes: MAX_WHOLE_BYTES, maxTotalBytes: 4 * MAX_WHOLE_BYTES }
  const context = { storage: files, readers, buffered: new BufferedFiles(limits) }
  const onWriteError = (error: unknown): never => {
    throw error
  }
  const indexes = new IndexStore({
    folder: join(root, 'indexes'),
    inspect: async (path, aborted, previous) =>
      storage.withRanges(path, async (ranges) =>
        inspectRecording(path, { ...context, signal: aborted, previous, ranges }),
      ),
    isSettled: () => true,
    onWriteError,
  })
  const partFolders = new PartFolders(storage, stoppedClock)
  const inspection = await inspectSession(SOURCE, { storage, indexes, partFolders, signal })
  expect(inspection.status).toBe('playable')
  const log = { warn: () => undefined }
  const admission = createAdmission()
  const opener = new SessionOpener({
    storage,
    partFolders,
    indexes,
    readers,
    readSubtitles: async (file) => readSubtitles(files, file),
    settings: { segmentSeconds: 6, startSegmentSeconds: 6, encryption: 'none', secret: 'secret' },
    transcodedAudio: new TranscodedAudio({ transcoder: undefined, admission, log, signal }),
    recordFolder: join(root, 'records'),
    onWriteError,
    settleSeconds: 60,
    signal,
  })
  const session = await opener.open(SOURCE)
  const content = (await session.playlist()).format()
  await session.close()
  return { calls, segments: content.split('#EXTINF').length - 1 }
}

test.each([15, 60])('reads each segment once in %i runs', async (runs) => {
  const segments = splitPackets(readFileSync(fixturePath('ts-h264-pts-wrap-33bit.ts')), 4)
  makeFolder(runs, segments)
  const { calls, segments: listed } = await inspectAndPlay()
  expect(listed).toBeGreaterThanOrEqual(runs)
  expect(calls.ofSegments).toBeLessThanOrEqual(MAX_CALLS_PER_SEGMENT * runs * segments.length)
  expect(calls.others).toBeLessThanOrEqual(MAX_OTHER_CALLS_PER_RUN * runs + MAX_OTHER_CALLS)
})

test('reads each segment of a long run once, and few of them again', async () => {
  const bytes = readFileSync(fixturePath('ts-h264-aac-clean-hls-concat.ts'))
  const copies = Math.ceil(MAX_WHOLE_BYTES / bytes.length) + 1
  const segments = Array.from({ length: copies }, () => splitPackets(bytes, 40)).flat()
  makeFolder(1, segments)
  const { calls } = await inspectAndPlay()
  const total = calls.ofSegments + calls.others
  expect(total).toBeLessThanOrEqual(MAX_CALLS_PER_SEGMENT * segments.length + MAX_OTHER_CALLS)
})
