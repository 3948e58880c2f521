// The decoder's own process: takes one job at a time from its parent and answers it. Started by decoder-process.ts.
import { constants, setPriority } from 'node:os'
import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import type { ChildMessage, RenderJob } from './render-message.ts'
import { renderPicture } from './render-picture.ts'

Log.setLevel(AV_LOG_QUIET)
// Serving goes before decoding; where a system forbids it, decoding is merely less polite.
try {
  setPriority(constants.priority.PRIORITY_LOW)
} catch {}

process.on('message', (job) => answer(render(job as RenderJob)))
// Without a parent there is nothing to do.
process.on('disconnect', () => process.exit())
answer({ status: 'ready' })

/** The parent is the only sender and shares the type, so the message needs no check. */
function render(job: RenderJob): ChildMessage {
  try {
    return { status: 'rendered', image: renderPicture(job) }
  } catch (error) {
    return { status: 'undecodable', reason: error instanceof Error ? error.message : String(error) }
  }
}

function answer(message: ChildMessage): void {
  process.send?.(message)
}
