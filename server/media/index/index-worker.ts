// The program of the index thread (see index-thread.ts), so that a long scan does not block
// requests.
import { parentPort, workerData } from 'node:worker_threads'
import { createFolderStorage } from '../../storage/folder-storage.ts'
import { loadPageCache } from '../../storage/page-cache.ts'
import { inspectRecording } from './inspect-recording.ts'
import type { ThreadReply, ThreadRequest } from './index-thread.ts'
import { createMediaReaders } from '../readers.ts'
import { withRecordedPlaylists } from '../recorded/recorded-storage.ts'

const port = parentPort
if (port === null) throw new Error('index-worker runs as a worker thread only')

const { recordings }: { recordings: string } = workerData
const storage = withRecordedPlaylists(
  createFolderStorage(recordings, { pageCache: await loadPageCache() }),
)
const readers = createMediaReaders()
const running = new Map<number, AbortController>()

port.on('message', (request: ThreadRequest) => {
  if (request.kind === 'abort') running.get(request.id)?.abort()
  else void answer(request)
})

/** Never rejects: errors are part of the reply. */
async function answer({
  id,
  path,
  previous,
}: Extract<ThreadRequest, { kind: 'inspect' }>): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  const { signal } = controller
  const reply = await inspectRecording(path, { storage, readers, signal, previous }).then(
    (value): ThreadReply => ({ id, status: 'done', value }),
    (error: unknown): ThreadReply => ({ id, status: 'failed', error: describeError(error) }),
  )
  running.delete(id)
  port?.postMessage(reply)
}

function describeError(error: unknown): { message: string; stack: string; code: string } {
  const known = error instanceof Error ? error : new Error(String(error))
  return {
    message: known.message,
    stack: known.stack ?? '',
    code: 'code' in known && typeof known.code === 'string' ? known.code : '',
  }
}
