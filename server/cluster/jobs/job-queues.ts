// The job queues of a cluster, in pg-boss.
import { PgBoss } from 'pg-boss'
import type { Job, JobInsert, JobWithMetadata, Queue } from 'pg-boss'
import { openJobConnections } from '../postgres/job-connections.ts'
import type { JobConnections } from '../postgres/job-connections.ts'

/**
 * `inspections`: recordings to inspect, by any node. `results`: what the scanning node has not
 * recorded yet. `requests`: sessions that visitors of some node requested before their inspection.
 * `thumbnails`: sessions whose thumbnail is not rendered yet. `encodes`: files of renditions that
 * visitors of some node wait for.
 */
export type QueueName = 'inspections' | 'results' | 'requests' | 'thumbnails' | 'encodes'

/** Jobs of a queue, as counted by the last pass of pg-boss's monitor. */
export interface QueueFigures {
  waiting: number
  active: number
  /** How long the oldest job has waited. */
  oldestSeconds: number
}

export interface JobQueuesOptions {
  url: string
  /** Errors of pg-boss's maintenance, and of idle connections. */
  onError: (error: Error) => void
}

/** A schema of its own: an operator can drop it while no node runs, and loses nothing. */
const SCHEMA = 'aftercast_jobs'
/** A node that does not extend its jobs for this long has stopped; 10 is the least. */
const HEARTBEAT_SECONDS = 10
/** Of the monitor, which returns the jobs of such nodes to their queue. */
const MONITOR_SECONDS = 5
const MAINTENANCE_SECONDS = 60
/** Of an offer, which ends after three of them. */
const OFFER_SECONDS = 3
/** Crashes of nodes, not errors of a recording: those are results. */
export const MAX_RETRIES = 3
const DELETE_AFTER_SECONDS = 60
const HOUR_SECONDS = 3600

/** Beyond `expireInSeconds`, a job is given to another node. */
const inspecting = {
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: 900,
  retryLimit: MAX_RETRIES,
  deleteAfterSeconds: DELETE_AFTER_SECONDS,
}
const QUEUES: readonly (Omit<Queue, 'name'> & { name: QueueName })[] = [
  // Before the queue that has it as its dead letter queue.
  { name: 'results', retentionSeconds: HOUR_SECONDS, deleteAfterSeconds: DELETE_AFTER_SECONDS },
  { name: 'inspections', policy: 'exclusive', deadLetter: 'results', ...inspecting },
  {
    name: 'requests',
    policy: 'exclusive',
    retentionSeconds: 60,
    deleteAfterSeconds: DELETE_AFTER_SECONDS,
  },
  { name: 'thumbnails', policy: 'exclusive', ...inspecting, retentionSeconds: 24 * HOUR_SECONDS },
  {
    name: 'encodes',
    policy: 'exclusive',
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: 60,
    retryLimit: 1,
    retentionSeconds: 60,
    deleteAfterSeconds: DELETE_AFTER_SECONDS,
  },
]

export type FetchedJob = Job<unknown>

/** State of a job, and what was passed to `complete`. */
export type JobState = Pick<JobWithMetadata, 'state' | 'output'>

export interface NewJob {
  data: object
  /** At most one job of a key waits or runs, in all queues but `results`. */
  key?: string
  /** Higher ones first; default 0. */
  priority?: number
  /** How often another node runs it after one that did not complete it. Default as the queue. */
  retryLimit?: number
}

/** Every method but `figures` and `close` rejects with errors of the database. */
export class JobQueues {
  readonly #options: JobQueuesOptions
  readonly #connections: JobConnections
  #boss: PgBoss | undefined
  /** An instance of pg-boss for its name alone, which other nodes see while it runs. */
  #offer: PgBoss | undefined

  constructor(options: JobQueuesOptions) {
    this.#options = options
    this.#connections = openJobConnections(options.url, options.onError)
  }

  /** Creates what the database lacks, once for nodes that start at the same time. */
  async prepare(): Promise<void> {
    if (this.#boss !== undefined) {
      if (await this.#boss.isInstalled()) return
      // The database was replaced.
      await this.#stop()
    }
    const boss = new PgBoss({
      db: this.#connections,
      schema: SCHEMA,
      // `CREATE SCHEMA IF NOT EXISTS` needs a privilege even where the schema exists.
      createSchema: !(await this.#connections.hasSchema(SCHEMA)),
      schedule: false,
      superviseIntervalSeconds: MONITOR_SECONDS,
      monitorIntervalSeconds: MONITOR_SECONDS,
      maintenanceIntervalSeconds: MAINTENANCE_SECONDS,
      // Flows are not used.
      flowIntervalSeconds: MAINTENANCE_SECONDS,
      registerInstance: false,
    })
    boss.on('error', this.#options.onError)
    try {
      await boss.start()
      for (const { name, ...options } of QUEUES) await boss.createQueue(name, options)
    } catch (error) {
      await boss.stop({ graceful: false }).catch(this.#options.onError)
      throw error
    }
    this.#boss = boss
  }

  /** Adds the jobs, but for those whose key is in the queue already. */
  async add(queue: QueueName, jobs: readonly NewJob[]): Promise<void> {
    const inserts = jobs.map(({ data, key, priority = 0, retryLimit }): JobInsert => {
      return {
        data,
        priority,
        ...(key !== undefined && { singletonKey: key }),
        ...(retryLimit !== undefined && { retryLimit }),
      }
    })
    await this.#started().insert(queue, inserts)
  }

  /** Adds a job, and returns its id; undefined if its key is in the queue already. */
  async addOne(queue: QueueName, { data, key, priority }: NewJob): Promise<string | undefined> {
    const options = { ...(key !== undefined && { singletonKey: key }), priority: priority ?? 0 }
    return (await this.#started().send(queue, data, options)) ?? undefined
  }

  /** The newest job with an id or a key; undefined if it was deleted. */
  async find(
    queue: QueueName,
    job: { id: string } | { key: string },
  ): Promise<JobState | undefined> {
    const found = await this.#started().findJobs(queue, job)
    return found.at(-1)
  }

  /** Ends a job, unless it has ended: nobody needs its result. */
  async cancel(queue: QueueName, id: string): Promise<void> {
    await this.#started().cancel(queue, id)
  }

  /** Offers this to other nodes, who find it with `hasOffer`, until `withdraw` or `close`. */
  async offer(offer: string): Promise<void> {
    if (this.#offer !== undefined) return
    const boss = new PgBoss({
      db: this.#connections,
      schema: SCHEMA,
      migrate: false,
      supervise: false,
      schedule: false,
      instanceName: offer,
      instanceHeartbeatSeconds: OFFER_SECONDS,
    })
    boss.on('error', this.#options.onError)
    this.#offer = boss
    try {
      await boss.start()
    } catch (error) {
      await this.withdraw()
      throw error
    }
  }

  async withdraw(): Promise<void> {
    const boss = this.#offer
    this.#offer = undefined
    await boss?.stop({ graceful: false })
  }

  /** Whether a node offers this, and has been heard of in the last seconds. */
  async hasOffer(offer: string): Promise<boolean> {
    const nodes = await this.#started().getInstances()
    return nodes.some(({ live, name }) => live && name === offer)
  }

  /** Takes up to `count` jobs, which this node then extends until it has completed them. */
  async take(queue: QueueName, count: number): Promise<FetchedJob[]> {
    return this.#started().fetch<unknown>(queue, { batchSize: count })
  }

  async extend(queue: QueueName, jobs: readonly FetchedJob[]): Promise<void> {
    if (jobs.length > 0) await this.#started().touch(queue, [...jobs])
  }

  /** @param output for `find`; default nothing */
  async complete(queue: QueueName, jobs: readonly FetchedJob[], output?: object): Promise<void> {
    if (jobs.length > 0) await this.#started().complete(queue, [...jobs], output)
  }

  /** Lets another node take the jobs. */
  async giveBack(queue: QueueName, jobs: readonly FetchedJob[]): Promise<void> {
    if (jobs.length > 0) await this.#started().fail(queue, [...jobs])
  }

  async figures(): Promise<Map<QueueName, QueueFigures>> {
    const queues = await this.#started().getQueues(QUEUES.map(({ name }) => name))
    return new Map(
      QUEUES.flatMap(({ name }) => {
        const queue = queues.find((one) => one.name === name)
        if (queue === undefined) return []
        const { queuedCount: waiting, activeCount: active, readyOldestSeconds } = queue
        return [[name, { waiting, active, oldestSeconds: readyOldestSeconds ?? 0 }]]
      }),
    )
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await this.withdraw().catch(() => undefined)
    await this.#stop().catch(() => undefined)
    await this.#connections.close().catch(() => undefined)
  }

  #started(): PgBoss {
    if (this.#boss === undefined) throw new Error('the job queues are not prepared yet')
    return this.#boss
  }

  async #stop(): Promise<void> {
    const boss = this.#boss
    this.#boss = undefined
    await boss?.stop({ graceful: false })
  }
}
