// The child's side of a decoder process: receives jobs from the parent, runs them one by one, and
// replies.
import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import type { ChildMessage } from './child-message.ts'

/** The channel to the parent, which `process` has in a child process. */
interface Channel {
  on(event: 'message', listener: (job: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
  send?(message: ChildMessage<unknown>): unknown
  exit(): void
}

/**
 * Replies to each job with the result of `decode` or the reason of its failure; exits when the
 * parent disconnects.
 */
export function serveJobs<Job>(channel: Channel, decode: (job: Job) => unknown): void {
  Log.setLevel(AV_LOG_QUIET)
  channel.on('message', (job) => {
    // Only the parent, which shares this type, sends on this channel.
    channel.send?.(runJob(job as Job, decode))
  })
  channel.on('disconnect', () => channel.exit())
  channel.send?.({ status: 'ready' })
}

function runJob<Job>(job: Job, decode: (job: Job) => unknown): ChildMessage<unknown> {
  try {
    return { status: 'done', value: decode(job) }
  } catch (error) {
    return { status: 'undecodable', reason: error instanceof Error ? error.message : String(error) }
  }
}
