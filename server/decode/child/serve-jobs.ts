// The child's side of a decoder process: receives jobs from the parent, runs them one by one, and
// replies.
import { setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import type { ChildMessage } from './child-message.ts'
import { receiveMessages, sendMessage } from './message-pipe.ts'

/** The parent gives jobs to the input of `process`, and gets replies from its output. */
interface Channel {
  stdin: Readable
  stdout: Writable
  exit(): void
}

/**
 * Replies to each job with the result of `decode` or the reason of its failure; exits when the
 * parent has ended.
 */
export function serveJobs<Job>(channel: Channel, decode: (job: Job) => unknown): void {
  Log.setLevel(AV_LOG_QUIET)
  const reply = (message: ChildMessage): void => sendMessage(channel.stdout, message)
  receiveMessages(channel.stdin, {
    // Only the parent, which shares this type, writes to this pipe.
    onMessage: (job) => reply(runJob(job as Job, decode)),
  })
  channel.stdin.on('end', () => channel.exit())
  reply({ status: 'ready' })
}

/** Where the system forbids it, the process just competes with the server. */
export function lowerPriority(priority: number): void {
  try {
    setPriority(priority)
  } catch {}
}

function runJob<Job>(job: Job, decode: (job: Job) => unknown): ChildMessage {
  try {
    return { status: 'done', value: decode(job) }
  } catch (error) {
    return { status: 'undecodable', reason: error instanceof Error ? error.message : String(error) }
  }
}
