// The child's side of a decoder process: takes one job at a time from the parent and answers it.
import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import type { ChildMessage } from './child-message.ts'

/** The channel to the parent; `process` has it where a parent started it. */
interface Channel {
  on(event: 'message', listener: (job: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
  send?(message: ChildMessage<unknown>): unknown
  exit(): void
}

/** Answers every job with what `decode` makes of it, or with why it cannot; ends when the parent is gone. */
export function serveJobs<Job>(channel: Channel, decode: (job: Job) => unknown): void {
  Log.setLevel(AV_LOG_QUIET)
  channel.on('message', (job) => {
    // The parent is the only sender and shares the type.
    channel.send?.(answerTo(job as Job, decode))
  })
  channel.on('disconnect', () => channel.exit())
  channel.send?.({ status: 'ready' })
}

function answerTo<Job>(job: Job, decode: (job: Job) => unknown): ChildMessage<unknown> {
  try {
    return { status: 'done', value: decode(job) }
  } catch (error) {
    return { status: 'undecodable', reason: error instanceof Error ? error.message : String(error) }
  }
}
