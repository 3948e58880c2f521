// How much work a session of many parts costs, counted in plans and listings.
import { copyFileSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { patienceMs, patientDecoder, soon } from '../../../../test/support/patience.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { fixturePath } from '../../../../test/support/temp-library.ts'
import { createAdmission } from '../../../base/admission/limits.ts'
import { createAudioTranscoder } from '../../../decode/audio/audio-transcoder.ts'
import { AppError } from '../../../base/errors.ts'
import { IndexStore } from '../../../media/index/index-store.ts'
import type { IndexStoreOptions } from '../../../media/index/index-store.ts'
import { readSubtitles } from '../../../media/index/read-subtitles.ts'
import { inspectRecording } from '../../../media/index/inspect-recording.ts'
import { createMediaReaders } from '../../../media/readers.ts'
import type { MediaReaders } from '../../../media/readers.ts'
import { withRecordedPlaylists } from '../../../media/recorded/recorded-storage.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import { TranscodedAudio } from '../segment/transcoded-audio.ts'
import { PartFolders } from './part-folders.ts'
import { SessionOpener } from './session-opener.ts'

const FIXTURE = fixturePath('ts-h264-pts-wrap-33bit.ts')
const FOLDER = 'alice/2026-01-31/day'
const SOURCE = {
  streamer: 'alice',
  date: '2026-01-31',
  sessionId: 'day',
  path: FOLDER,
  kind: 'folder',
} as const
const SETTLED_AT = new Date('2026-02-01T00:00:00Z')
/** More than caches that count recordings would hold. */
const PARTS = 700
const MAX_LOOKUPS_PER_PLAN = 4

let root: string
let stopping: AbortController
/** Each plan finds the reader of its index. */
let readersFound: number

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  root = makeTempFolder('parts')
  stopping = new AbortController()
  readersFound = 0
})

afterEach(() => {
  vi.useRealTimers()
  stopping.abort()
})

function partPath(part: number): string {
  return join(root, 'library', FOLDER, `part${part}.ts`)
}

function addParts(count: number): void {
  mkdirSync(join(root, 'library', FOLDER), { recursive: true })
  for (let part = 0; part < count; part += 1) addPart(part)
}

/** A copy, because a link would change the ctime of all. */
function addPart(part: number): void {
  copyFileSync(FIXTURE, partPath(part))
  utimesSync(partPath(part), SETTLED_AT, SETTLED_AT)
}

function createOpener(inspect?: Inspect): SessionOpener {
  const { signal } = stopping
  const readers = createMediaReaders()
  const countingReaders: MediaReaders = {
    forFile: async (file) => readers.forFile(file),
    forIndex: (index) => {
      readersFound += 1
      return readers.forIndex(index)
    },
  }
  const folder = new FolderStorage(join(root, 'library'))
  const storage = withRecordedPlaylists(folder)
  const log = { warn: () => undefined }
  const onWriteError = (error: unknown): never => {
    throw error
  }
  return new SessionOpener({
    storage,
    partFolders: new PartFolders(storage),
    indexes: new IndexStore({
      folder: join(root, 'indexes'),
      inspect: inspect ?? (async (path) => inspectRecording(path, { storage, readers, signal })),
      isSettled: () => true,
      onWriteError,
    }),
    readers: countingReaders,
    readSubtitles: async (file) => readSubtitles(folder, file),
    settings: { segmentSeconds: 4, startSegmentSeconds: 2, encryption: 'none', secret: 'secret' },
    transcodedAudio: new TranscodedAudio({
      transcoder: createAudioTranscoder({ limits: patientDecoder }),
      admission: createAdmission(),
      log,
      waitMs: patienceMs,
      signal,
    }),
    recordFolder: join(root, 'indexes'),
    onWriteError,
    settleSeconds: 60,
    signal,
  })
}

type Inspect = IndexStoreOptions['inspect']

test('leaves no part out that only was not read for lack of descriptors', async () => {
  addParts(2)
  const busy = createOpener(async (path) => {
    if (path.endsWith('part1.ts')) throw new AppError('busy', 'too many files are open')
    return inspectRecording(path, {
      storage: new FolderStorage(join(root, 'library')),
      readers: createMediaReaders(),
      signal: stopping.signal,
    })
  })
  await expect(busy.open(SOURCE)).rejects.toMatchObject({ code: 'busy' })
  const session = await createOpener().open(SOURCE)
  expect((await session.playlist()).format()).toContain('#EXT-X-DISCONTINUITY\n')
  await session.close()
})

test('an unchanged folder of any number of parts is planned once', async () => {
  addParts(PARTS)
  const opener = createOpener()
  const open = async () => {
    vi.advanceTimersByTime(1500)
    const session = await opener.open(SOURCE)
    const text = (await session.playlist()).format()
    await session.close()
    return text.split('\n').filter((line) => line === '#EXT-X-DISCONTINUITY').length + 1
  }
  // Until all parts are indexed, a busy machine may exceed the time limit of a request.
  expect(await vi.waitFor(open, soon)).toBe(PARTS)
  const planned = readersFound
  expect(await open()).toBe(PARTS)
  expect(readersFound).toBe(planned)
  // One more part: only that one is planned.
  addPart(PARTS)
  expect(await open()).toBe(PARTS + 1)
  const forOne = readersFound - planned
  expect(forOne).toBeLessThanOrEqual(MAX_LOOKUPS_PER_PLAN)
  rmSync(partPath(5))
  expect(await open()).toBe(PARTS)
  expect(readersFound).toBe(planned + forOne)
})
