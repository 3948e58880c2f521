// Reads very large folders in a thread with synchronous calls: a round trip through libuv's thread
// pool costs several times what a stat from memory does.
import { Worker } from 'node:worker_threads'
import type { FolderRequest, ReadFolder } from './read-folder.ts'

export type ThreadRequest = FolderRequest & { id: number }

export interface ThreadReply {
  id: number
  /** Undefined if it must be read asynchronously instead, which also reproduces errors. */
  read: ReadFolder | undefined
  /** Whether it waited for a disk or a network. */
  wasSlow: boolean
}

/** With fewer consecutive entries than this, a thread does not pay off. */
const MIN_ENTRIES = 1000
/** An idle thread exits after this time, since it takes some megabytes. */
const IDLE_MS = 10_000
/** Folders read asynchronously after a slow one: libuv's four threads wait for several at once. */
const FOLDERS_AFTER_SLOW = 4
const MAX_HEAP_MB = 256
/** Size of the young generation, which is where garbage accumulates. */
const MAX_YOUNG_MB = 4

/** Reads folders off the event loop in an on-demand worker thread. */
export class FolderThread {
  readonly #jobs = new Map<number, (read: ReadFolder | undefined) => void>()
  #worker: Worker | undefined
  #isOnline = false
  #idleTimer: NodeJS.Timeout | undefined
  #met = 0
  #skip = 0
  #lastId = 0

  /** Counts entries read asynchronously, to detect when a thread pays off. */
  count(entries: number): void {
    this.#met += entries
    this.#idleTimer ??= setTimeout(() => this.#closeIfIdle(), IDLE_MS).unref()
    this.#idleTimer.refresh()
    if (this.#met >= MIN_ENTRIES) this.#worker ??= this.#start()
  }

  /** A folder's entries; undefined if it must be read asynchronously. Never rejects. */
  async read(request: FolderRequest): Promise<ReadFolder | undefined> {
    const worker = this.#worker
    if (!worker || !this.#isOnline) return undefined
    this.#skip -= 1
    if (this.#skip >= 0) return undefined
    this.#idleTimer?.refresh()
    const id = (this.#lastId += 1)
    try {
      return await new Promise((resolve) => {
        this.#jobs.set(id, resolve)
        worker.ref()
        worker.postMessage({ ...request, id } satisfies ThreadRequest)
      })
    } finally {
      this.#jobs.delete(id)
      if (this.#jobs.size === 0) worker.unref()
    }
  }

  /** Ends the thread; it is started again on demand. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = undefined
    this.#met = 0
    await this.#worker?.terminate()
  }

  #closeIfIdle(): void {
    if (this.#jobs.size === 0) void this.close()
    else this.#idleTimer?.refresh()
  }

  #start(): Worker {
    const worker = new Worker(new URL(`./folder-worker${sourceExtension()}`, import.meta.url), {
      resourceLimits: {
        maxOldGenerationSizeMb: MAX_HEAP_MB,
        maxYoungGenerationSizeMb: MAX_YOUNG_MB,
      },
    })
    worker.unref()
    worker.once('online', () => {
      this.#isOnline = true
    })
    worker.on('message', (reply: ThreadReply) => this.#settle(reply))
    // Whatever ended it: its folders are read asynchronously.
    worker.on('error', () => undefined)
    worker.once('exit', () => this.#letGo())
    return worker
  }

  #settle({ id, read, wasSlow }: ThreadReply): void {
    this.#skip = wasSlow ? FOLDERS_AFTER_SLOW : 0
    // Deferred: a port delivers up to a thousand messages before anything else runs.
    setImmediate(() => this.#jobs.get(id)?.(read))
  }

  #letGo(): void {
    this.#worker = undefined
    this.#isOnline = false
    for (const resolve of this.#jobs.values()) resolve(undefined)
  }
}

/** The extension of the program's files: .ts when run from source, .js when built. */
function sourceExtension(): string {
  return import.meta.url.endsWith('.ts') ? '.ts' : '.js'
}
