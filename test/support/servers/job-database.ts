// Nodes with jobs in PostgreSQL: each test of a file has an empty database, and its nodes end after
// it.
import { afterEach, beforeAll, beforeEach, inject } from 'vitest'
import { JobQueues } from '../../../server/cluster/jobs/job-queues.ts'
import type { JobQueuesOptions } from '../../../server/cluster/jobs/job-queues.ts'
import { sharedPostgres } from './postgres.ts'
import type { StartedPostgres } from './postgres.ts'

/** Of the test that runs. */
export interface JobDatabase {
  postgres: StartedPostgres
  url: string
  /** Aborted after the test: nodes stop. */
  signal: AbortSignal
  /** Calls it after that, and before what was deferred earlier. */
  defer(end: () => Promise<unknown>): void
  /** The queues as one node has them. */
  openQueues(options?: Partial<Pick<JobQueuesOptions, 'url'>>): Promise<JobQueues>
}

/** Call it before the tests of the file; they read its members while they run. */
export function prepareJobDatabase(): Readonly<JobDatabase> {
  let postgres: StartedPostgres
  let url: string
  let stopping: AbortController
  let ends: (() => Promise<unknown>)[]
  beforeAll(async () => {
    postgres = await sharedPostgres(inject('postgresFolder'))
  })
  beforeEach(async () => {
    url = await postgres.createDatabase()
    stopping = new AbortController()
    ends = []
  })
  afterEach(async () => {
    stopping.abort()
    for (const end of ends.toReversed()) await end()
  })
  return {
    get postgres() {
      return postgres
    },
    get url() {
      return url
    },
    get signal() {
      return stopping.signal
    },
    defer: (end) => void ends.push(end),
    async openQueues(options) {
      const queues = new JobQueues({ url, onError: () => undefined, ...options })
      ends.push(async () => queues.close())
      await queues.prepare()
      return queues
    },
  }
}
