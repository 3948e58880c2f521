// Reads folders of very many files in a thread that waits for the system itself: a way to libuv's threads and back costs
// several times what a stat from memory does.
import { Worker } from 'node:worker_threads'
import type { FolderRequest, ReadFolder } from './read-folder.ts'

export type ThreadRequest = FolderRequest & { id: number }

export interface ThreadReply {
  id: number
  /** Undefined where it is to be read otherwise, be it to meet the error again. */
  read: ReadFolder | undefined
  /** Whether a disk or a network was waited for. */
  wasSlow: boolean
}

/** Fewer entries than this, without a pause, are not worth a thread. */
const MIN_ENTRIES = 1000
/** So long a pause ends the thread, which takes some megabytes. */
const IDLE_MS = 10_000
/** Folders that are read otherwise after a slow one: libuv's four threads wait for several at once. */
const FOLDERS_AFTER_SLOW = 4
const MAX_HEAP_MB = 256
/** Of it what is new: garbage waits there. */
const MAX_YOUNG_MB = 4

/** Reads folders off the event loop. The thread comes with the need, and goes with it. */
export class FolderThread {
  readonly #jobs = new Map<number, (read: ReadFolder | undefined) => void>()
  #worker: Worker | undefined
  #isOnline = false
  #idleTimer: NodeJS.Timeout | undefined
  #met = 0
  #skip = 0
  #lastId = 0

  /** Tells how many entries were read otherwise, by which the need is known. */
  count(entries: number): void {
    this.#met += entries
    this.#idleTimer ??= setTimeout(() => this.#closeIfIdle(), IDLE_MS).unref()
    this.#idleTimer.refresh()
    if (this.#met >= MIN_ENTRIES) this.#worker ??= this.#start()
  }

  /** What a folder holds; undefined where it is to be read otherwise. Never rejects. */
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

  /** Ends the thread; the next need starts it anew. */
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
    // whatever ended it: its folders are read otherwise
    worker.on('error', () => undefined)
    worker.once('exit', () => this.#letGo())
    return worker
  }

  #settle({ id, read, wasSlow }: ThreadReply): void {
    this.#skip = wasSlow ? FOLDERS_AFTER_SLOW : 0
    // not at once: a port hands on up to a thousand messages, also those that come meanwhile, before anybody else's turn
    setImmediate(() => this.#jobs.get(id)?.(read))
  }

  #letGo(): void {
    this.#worker = undefined
    this.#isOnline = false
    for (const resolve of this.#jobs.values()) resolve(undefined)
  }
}

/** The program's own files end in .ts where it runs from source, in .js where it was built. */
function sourceExtension(): string {
  return import.meta.url.endsWith('.ts') ? '.ts' : '.js'
}
