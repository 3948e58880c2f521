// What every benchmark gets: its options, a folder of its own, and servers that end with it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { startServer } from '../test/support/servers/start-server.ts'
import type { StartedServer } from '../test/support/servers/start-server.ts'
import { hasProgram } from './machine.ts'
import type { BenchOptions } from './options.ts'

/** A server of a benchmark, alone or in a cluster. */
export interface NodePlan {
  recordings: string
  /** Default `serve`. */
  command?: 'work'
  /** Data folder. Default one of its own, removed in the end. */
  data?: string
  /** Default none: a server without a cluster. */
  database?: string
  environment?: NodeJS.ProcessEnv
  /** Default one. */
  workers?: number
  /** Default the first one if there is one worker. */
  processor?: 'any'
  /** Folder of another release, with its dependencies. Default this one. */
  checkout?: string
}

/** A snapshot of a million recordings may be necessary. */
const READY_WITHIN_MS = 300_000

export class Bench implements AsyncDisposable {
  readonly options: BenchOptions
  /** An empty folder on the disk of the cache. */
  readonly scratch: string
  /** What is wrong; with any, the benchmark fails after its tables. */
  readonly faults: string[] = []
  readonly #ends = new AsyncDisposableStack()
  readonly #isPinning = hasProgram('taskset') && availableParallelism() > 1
  #nodes = 0

  constructor(options: BenchOptions) {
    this.options = options
    mkdirSync(options.cache, { recursive: true })
    this.scratch = mkdtempSync(path.join(options.cache, 'run-'))
    this.defer(() => rmSync(this.scratch, { recursive: true, force: true }))
    if (!this.#isPinning)
      console.error('Not pinned: taskset (Debian: util-linux) or a second processor is missing.')
  }

  /** Calls it in the end, before what was deferred earlier. */
  defer(end: () => unknown): void {
    this.#ends.defer(async () => void (await end()))
  }

  /** Prefix of a command: servers are on processor 0 and loads on 1, so that they share none. */
  pin(processor: 0 | 1): string[] {
    return this.#isPinning ? ['taskset', '-c', String(processor)] : []
  }

  async startNode(plan: NodePlan): Promise<StartedServer> {
    const { recordings, command, database, environment, workers = 1, processor, checkout } = plan
    const data = plan.data ?? path.join(this.scratch, `node-${(this.#nodes += 1)}`)
    mkdirSync(data, { recursive: true })
    const server = await startServer({
      args: [recordings, '--data', data],
      readyWithinMs: READY_WITHIN_MS,
      environment: {
        AFTERCAST_WORKERS: String(workers),
        ...(database !== undefined && { AFTERCAST_DATABASE_URL: database }),
        ...environment,
      },
      wrapper: workers === 1 && processor !== 'any' ? this.pin(0) : [],
      ...(command && { command }),
      ...(checkout !== undefined && { checkout }),
    })
    this.defer(async () => server.stop())
    return server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync()
  }
}
