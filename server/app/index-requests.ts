// Indexes that workers lack: the primary makes and stores them, so that no two processes index the
// same recording.
import type { Worker } from 'node:cluster'
import { addAbortListener } from 'node:events'
import { z } from 'zod'
import {
  currentClient,
  MAX_KEY_LENGTH,
  runForClient,
  watchJoins,
} from '../base/admission/client.ts'
import type { IndexStoreOptions } from '../media/index/index-store.ts'
import type { Library } from './library.ts'

type AwaitIndex = NonNullable<IndexStoreOptions['awaitIndex']>

/** Message of a worker, with the client that waits. */
const requestShape = z.object({
  index: z.object({ id: z.int(), path: z.string(), client: z.string().max(MAX_KEY_LENGTH) }),
})
/** Response of the primary: the index is stored, or cannot be. */
const responseShape = z.object({ indexed: z.int() })

/** Of a worker: waits until the primary has stored an index. If the primary ends, so do workers. */
export function awaitIndexOfPrimary(worker: Pick<Worker, 'on' | 'process'>): AwaitIndex {
  const waiting = new Map<number, () => void>()
  let lastId = 0
  worker.on('message', (message: unknown) => {
    const { data } = responseShape.safeParse(message)
    if (data !== undefined) waiting.get(data.indexed)?.()
  })
  return async (path, signal) => {
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const id = (lastId += 1)
    waiting.set(id, resolve)
    using _aborting = addAbortListener(signal, () => resolve())
    const request = (client: string): void => {
      worker.process.send?.({ index: { id, path, client } }, (error: Error | null) => {
        if (error !== null) resolve()
      })
    }
    const stop = new AbortController()
    watchJoins(request, stop.signal)
    request(currentClient())
    try {
      await promise
    } finally {
      stop.abort()
      waiting.delete(id)
    }
  }
}

/** Of the primary: indexes what a worker's message requests, if it is one of these messages. */
export async function indexForWorker(
  worker: Pick<Worker, 'isConnected' | 'send'>,
  message: unknown,
  { library, signal }: { library: Pick<Library, 'indexes' | 'storage'>; signal: AbortSignal },
): Promise<void> {
  const { data } = requestShape.safeParse(message)
  if (data === undefined) return
  const { id, path, client } = data.index
  try {
    const stat = await library.storage.stat(path)
    await runForClient(
      () => client,
      async () => library.indexes.find(path, stat, signal),
    )
  } catch {
    // The worker reads the recording itself then, with the same result or a more recent one.
  }
  if (worker.isConnected()) worker.send({ indexed: id }, () => undefined)
}
