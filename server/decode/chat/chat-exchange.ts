// Messages between the server and the process that reads a chat: the child replies to each.
import { z } from 'zod'
import { unplayableReasonSchema } from '../../base/problem.ts'
import { bucketTableSchema } from '../../media/chat/chat-buckets.ts'
import type { ChatJob } from '../../media/chat/read-chat.ts'

/** A job starts a read; then come the bytes that the child requests. */
export type ChatMessage =
  | { kind: 'read'; job: ChatJob }
  /** Of the files in their order; none at the end of each, and in reply to a pack or an emote. */
  | { kind: 'bytes'; bytes: Uint8Array }

/** The child's bytes, before they are trusted. */
export const chatReplySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('next-bytes') }),
  z.object({ kind: z.literal('pack'), bytes: z.instanceof(Uint8Array) }),
  z.object({ kind: z.literal('emote'), name: z.string(), data: z.instanceof(Uint8Array) }),
  z.object({ kind: z.literal('read'), table: bucketTableSchema }),
  z.object({ kind: z.literal('refused'), reason: unplayableReasonSchema.optional() }),
])
export type ChatReply = z.infer<typeof chatReplySchema>
