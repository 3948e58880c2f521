// The process that reads chats, started by chat-reader.ts.
import { readChat } from '../../media/chat/read-chat.ts'
import type { ChatJob } from '../../media/chat/read-chat.ts'
import { serveJobs } from '../child/serve-jobs.ts'
import type { ChatMessage, ChatReply } from './chat-exchange.ts'

// The exchange that the parent has begun, and the one that follows.
let received = Promise.withResolvers<Uint8Array>()
let replied = Promise.withResolvers<ChatReply>()

serveJobs(process, async (message: ChatMessage) => {
  replied = Promise.withResolvers()
  if (message.kind === 'read') read(message.job).then(replyWith, (error) => replied.reject(error))
  else received.resolve(message.bytes)
  return replied.promise
})

async function read(job: ChatJob): Promise<ChatReply> {
  const outcome = await readChat(job, requestChunks)
  if (outcome.status === 'refused') return { kind: 'refused', reason: outcome.reason }
  const { bytes, emotes = [], status: _, ...table } = outcome
  for (const pack of bytes) await exchange({ kind: 'pack', bytes: pack })
  for (const emote of emotes) await exchange({ kind: 'emote', ...emote })
  return { kind: 'read', table }
}

/** The rest of the file that the parent is sending. */
async function* requestChunks(): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const bytes = await exchange({ kind: 'next-bytes' })
    if (bytes.length === 0) return
    yield bytes
  }
}

async function exchange(reply: ChatReply): Promise<Uint8Array> {
  received = Promise.withResolvers()
  replyWith(reply)
  return received.promise
}

function replyWith(reply: ChatReply): void {
  replied.resolve(reply)
}
