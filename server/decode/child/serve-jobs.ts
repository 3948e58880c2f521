// The child's side of a decoder process: receives jobs from the parent, runs them one by one, and
// replies.
import type { Readable, Writable } from 'node:stream'
import type { ChildMessage } from './child-message.ts'
import { receiveMessages, sendMessage } from './message-pipe.ts'

/** The parent gives jobs to the input of `process`, and gets replies from its output. */
interface Channel {
  stdin: Readable
  stdout: Writable
  exit(): void
}

/**
 * Replies to each job with the result of `runJob`, which may be a promise, or the reason of its
 * failure; exits when the parent has ended.
 */
export function serveJobs<Job>(channel: Channel, runJob: (job: Job) => unknown): void {
  const reply = (message: ChildMessage): void => sendMessage(channel.stdout, message)
  receiveMessages(channel.stdin, {
    // Only the parent, which shares this type, writes to this pipe.
    onMessage: (job) => void replyTo(job as Job, runJob).then(reply),
  })
  channel.stdin.on('end', () => channel.exit())
  reply({ status: 'ready' })
}

async function replyTo<Job>(job: Job, runJob: (job: Job) => unknown): Promise<ChildMessage> {
  try {
    return { status: 'done', value: await runJob(job) }
  } catch (error) {
    return { status: 'undecodable', reason: error instanceof Error ? error.message : String(error) }
  }
}
