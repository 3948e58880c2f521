// The program of the index thread (see index-thread.ts), so that a long scan does not block
// requests.
import { parentPort, workerData } from 'node:worker_threads'
import { BufferedFiles } from '../../storage/recordings/buffered-files.ts'
import { createStorage } from '../../storage/recordings/create-storage.ts'
import { tableBuffers } from '../../storage/recordings/range-list.ts'
import type { StorageLocation } from '../../storage/recordings/storage-location.ts'
import { UnplayableError } from '../../base/errors.ts'
import { MAX_WHOLE_BYTES } from './identity.ts'
import { inspectRecording } from './inspect-recording.ts'
import { readSubtitles } from './read-subtitles.ts'
import { readRecordedChapters } from './recorded-chapters.ts'
import type { ThreadOutcome, ThreadReply, ThreadRequest } from './index-thread.ts'
import { createMediaReaders } from '../readers.ts'
import { RecordedFolders } from '../recorded/read-recorded-folder.ts'

/** Enough for the windows of all readers at once. */
const CACHE_BYTES = 32 * 1024 * 1024

const port = parentPort
if (port === null) throw new Error('index-worker runs as a worker thread only')

const { location }: { location: StorageLocation } = workerData
const files = await createStorage(location, { cacheBytes: CACHE_BYTES })
const recordedFolders = new RecordedFolders(files)
const readers = createMediaReaders()
const buffered = new BufferedFiles({
  maxFileBytes: MAX_WHOLE_BYTES,
  maxTotalBytes: 4 * MAX_WHOLE_BYTES,
})
const running = new Map<number, AbortController>()

port.on('message', (request: ThreadRequest) => {
  if (request.kind === 'abort') running.get(request.id)?.abort()
  else void answer(request)
})

/** Never rejects: errors are part of the reply. */
async function answer(request: Exclude<ThreadRequest, { kind: 'abort' }>): Promise<void> {
  const { id } = request
  const reply = await run(request).then(
    (outcome): ThreadReply => ({ id, status: 'done', outcome }),
    (error: unknown): ThreadReply => ({ id, status: 'failed', error: describeError(error) }),
  )
  port?.postMessage(reply, buffersOf(reply))
}

async function run(request: Exclude<ThreadRequest, { kind: 'abort' }>): Promise<ThreadOutcome> {
  switch (request.kind) {
    case 'inspect':
      return inspect(request)
    case 'playlist':
      return readPlaylist(request)
    case 'chapters': {
      const recorded = await readRecordedChapters(request.path, { storage: files, readers })
      return { kind: 'chapters', recorded }
    }
    case 'subtitles':
      return { kind: 'subtitles', subtitles: await readSubtitles(files, request.file) }
  }
}

async function inspect({
  id,
  path,
  previous,
  ranges,
}: Extract<ThreadRequest, { kind: 'inspect' }>): Promise<ThreadOutcome> {
  const controller = new AbortController()
  running.set(id, controller)
  try {
    const { signal } = controller
    const context = { storage: files, readers, signal, buffered }
    const result = await inspectRecording(path, { ...context, previous, ranges })
    return { kind: 'inspection', result }
  } finally {
    running.delete(id)
  }
}

async function readPlaylist({
  path,
  known,
}: Extract<ThreadRequest, { kind: 'playlist' }>): Promise<ThreadOutcome> {
  try {
    return { kind: 'playlist', list: await recordedFolders.read(path, known) }
  } catch (error) {
    if (!(error instanceof UnplayableError)) throw error
    return { kind: 'unplayable', reason: error.reason }
  }
}

/** Moved instead of copied: they may take megabytes, and nothing here has them any more. */
function buffersOf(reply: ThreadReply): ArrayBuffer[] {
  if (reply.status === 'failed') return []
  const { outcome } = reply
  if (outcome.kind !== 'playlist') return []
  const { list } = outcome
  const table = list === 'unchanged' ? undefined : list.runs[0]?.ranges.table
  return table === undefined ? [] : tableBuffers(table)
}

function describeError(error: unknown): { message: string; stack: string; code: string } {
  const known = error instanceof Error ? error : new Error(String(error))
  return {
    message: known.message,
    stack: known.stack ?? '',
    code: 'code' in known && typeof known.code === 'string' ? known.code : '',
  }
}
