import { EventEmitter } from 'node:events'
import { beforeEach, expect, test, vi } from 'vitest'
import { currentClient, runForClient, runShared } from '../base/admission/client.ts'
import type { Library } from './library.ts'
import { awaitIndexOfPrimary, indexForWorker } from './index-requests.ts'

type Sent = (error: Error | null) => void

let indexed: string[]
/** For which the primary indexes. */
let clients: string[]
/** Ends each index of the primary. */
let finish: PromiseWithResolvers<void>
let isClosed: boolean

beforeEach(() => {
  indexed = []
  clients = []
  finish = Promise.withResolvers()
  isClosed = false
})

/** A worker whose messages reach the primary, and the other way round. */
function connect() {
  const { signal } = new AbortController()
  const library = {
    storage: { stat: async () => Promise.resolve({ sizeBytes: 1, modifiedMs: 1, version: '1' }) },
    indexes: {
      async find(path: string) {
        indexed.push(path)
        clients.push(currentClient())
        return finish.promise
      },
    },
  } as unknown as Library
  const events = new EventEmitter()
  const primarySide = {
    isConnected: () => !isClosed,
    send: (message: object) => events.emit('message', message),
  }
  const send = (message: object, sent: Sent): void => {
    if (isClosed) return sent(new Error('closed'))
    sent(null)
    void indexForWorker(primarySide as never, message, { library, signal })
  }
  return awaitIndexOfPrimary(Object.assign(events, { process: { send } }) as never)
}

async function isWaiting(waiting: Promise<void>): Promise<boolean> {
  return Promise.race([
    waiting.then(() => false),
    new Promise<true>((resolve) => setImmediate(resolve, true)),
  ])
}

test('waits until the primary has stored the index', async () => {
  const waiting = connect()('a/1.ts', new AbortController().signal)
  expect(await isWaiting(waiting)).toBe(true)
  finish.resolve()
  await waiting
  expect(indexed).toEqual(['a/1.ts'])
})

test('stops waiting if the primary fails, is unreachable, or the worker stops', async () => {
  const failing = connect()('a/1.ts', new AbortController().signal)
  finish.reject(new Error('disk'))
  await failing
  finish = Promise.withResolvers()
  const stopping = new AbortController()
  const stopped = connect()('a/2.ts', stopping.signal)
  stopping.abort()
  await stopped
  isClosed = true
  await connect()('a/3.ts', new AbortController().signal)
  expect(indexed).toEqual(['a/1.ts', 'a/2.ts'])
})

test('tells the primary of clients that join', async () => {
  const awaitIndex = connect()
  const { result, join } = runForClient(
    () => '192.0.2.1',
    () => runShared(async () => awaitIndex('a/1.ts', new AbortController().signal)),
  )
  runForClient(() => '192.0.2.2', join)
  await vi.waitFor(() => expect(clients).toEqual(['192.0.2.1', '192.0.2.2']))
  finish.resolve()
  await result
})

test('ignores other messages', async () => {
  const { signal } = new AbortController()
  for (const message of [{ requested: {} }, { index: 1 }, { index: { id: 'x', path: 1 } }, null]) {
    await indexForWorker({} as never, message, { library: {} as never, signal })
  }
  expect(indexed).toEqual([])
})
