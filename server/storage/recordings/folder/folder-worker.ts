// The folder thread: reads one folder at a time for folder-thread.ts.
import { parentPort } from 'node:worker_threads'
import type { ThreadReply, ThreadRequest } from './folder-thread.ts'
import { readFolderAtOnce } from './read-folder.ts'
import type { IsSlow } from './read-folder.ts'

/**
 * From memory a folder takes about 20 µs and a stat 3. Anything slower waits for a disk or a
 * network, where libuv's concurrent threads are faster: the remaining entries are left to them.
 */
const MAX_MS = 1
const MAX_MS_EACH = 0.02

const port = parentPort
if (port === null) throw new Error('folder-worker runs as a worker thread only')

port.on('message', (request: ThreadRequest) => {
  const isSlow = startWatch()
  const read = readFolderAtOnce(request, isSlow)
  const wasSlow = isSlow(read?.files.length ?? 0)
  const reply: ThreadReply = { id: request.id, read, wasSlow }
  port.postMessage(reply, read ? [read.fileStats.buffer] : [])
})

function startWatch(): IsSlow {
  const startedMs = performance.now()
  return (done) => performance.now() - startedMs > MAX_MS + done * MAX_MS_EACH
}
