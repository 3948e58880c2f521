// Encodes of a node that serves as jobs for the nodes of the cluster that only work.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentClient } from '../../base/admission/client.ts'
import { Gate } from '../../base/admission/gate.ts'
import { AppError, isAppError } from '../../base/errors.ts'
import type { JobQueues } from '../../cluster/jobs/job-queues.ts'
import { parseEncodeOutcome } from '../../cluster/jobs/job-shapes.ts'
import type { EncodedFile, EncodingNodes } from '../../stream/hls/segment/encoded-video.ts'

export interface JobEncodesOptions {
  queues: Pick<JobQueues, 'addOne' | 'find' | 'cancel' | 'hasOffer'>
  /** Of the nodes whose encoder is that of this node. */
  offer: string
  pauses?: EncodePauses
}

/** In milliseconds. */
export interface EncodePauses {
  /** Between lookups of what nodes offer. */
  offerMs: number
  /** Between lookups of a job. */
  jobMs: number
}

/** Jobs of a node: more than its visitors need while other nodes keep up. */
const MAX_JOBS = 64
const MAX_WAITING = 32
/** A request gets an answer before players give up. */
const WAIT_MS = 6000
const BUSY_MESSAGE = 'too much video is being encoded; try again soon'

const DEFAULT_PAUSES: EncodePauses = { offerMs: 2000, jobMs: 100 }

export class JobEncodes implements EncodingNodes {
  readonly #options: JobEncodesOptions
  readonly #pauses: EncodePauses
  /** Addresses of visitors are not in the database. */
  readonly #salt = randomUUID()
  /** Each job is looked up all the time. */
  readonly #gate = new Gate({
    limit: MAX_JOBS,
    waiting: MAX_WAITING,
    waitMs: WAIT_MS,
    busyMessage: BUSY_MESSAGE,
  })
  /** Undefined before the first lookup. */
  #isOffered: boolean | undefined

  constructor(options: JobEncodesOptions) {
    this.#options = options
    this.#pauses = options.pauses ?? DEFAULT_PAUSES
  }

  /** Follows what nodes offer, until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { queues, offer } = this.#options
    while (!signal.aborted) {
      this.#isOffered = await queues.hasOffer(offer).catch(() => false)
      await sleep(this.#pauses.offerMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async encode(
    file: EncodedFile,
    { isWanted, signal }: { isWanted: boolean; signal: AbortSignal },
  ): Promise<boolean> {
    while (this.#isOffered === undefined) {
      await sleep(this.#pauses.jobMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
    if (!isWanted || !this.#isOffered) return this.#isOffered
    return this.#gate.run(async () => this.#encode(file, signal), signal)
  }

  async #encode(file: EncodedFile, signal: AbortSignal): Promise<boolean> {
    const { queues } = this.#options
    const hash = (text: string): string => createHash('sha256').update(text).digest('base64url')
    const { version, name } = file
    const job = {
      data: { ...file, client: hash(this.#salt + currentClient()) },
      key: hash(`${version}/${name}`),
    }
    let id: string | undefined
    const add = async (): Promise<void> => {
      id = (await queues.addOne('encodes', job)) ?? id
    }
    try {
      await add()
      while (this.#isOffered) {
        const found = await queues.find('encodes', { key: job.key })
        if (found?.state === 'completed') {
          id = undefined
          return isEncoded(found.output)
        }
        if (found?.state === 'failed') return false
        // Nobody waits for it any more on the node that has added it.
        if (found === undefined || found.state === 'cancelled') await add()
        await sleep(this.#pauses.jobMs, undefined, { signal })
      }
    } catch (error) {
      signal.throwIfAborted()
      if (isAppError(error, 'busy')) throw error
      // The database failed: this node encodes.
    } finally {
      if (id !== undefined) queues.cancel('encodes', id).catch(() => undefined)
    }
    return false
  }
}

/** @throws AppError `busy` */
function isEncoded(output: unknown): boolean {
  const status = parseEncodeOutcome(output)?.status
  if (status === 'busy') throw new AppError('busy', BUSY_MESSAGE)
  return status === 'done'
}
