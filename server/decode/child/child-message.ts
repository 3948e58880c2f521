// Messages from a decoder process to its parent, which checks each: the process decodes hostile
// bytes.
import { z } from 'zod'

/** Reasons are written to the log. */
const MAX_REASON_LENGTH = 500

const messageShape = z.discriminatedUnion('status', [
  z.object({ status: z.literal('ready') }),
  z.object({ status: z.literal('done'), value: z.unknown() }),
  z.object({
    status: z.literal('undecodable'),
    reason: z.string().transform((reason) => reason.slice(0, MAX_REASON_LENGTH)),
  }),
])

/** `ready` once, then one of the others per job. */
export type ChildMessage = z.infer<typeof messageShape>

/** Undefined if it is malformed. */
export function parseChildMessage(message: unknown): ChildMessage | undefined {
  return messageShape.safeParse(message).data
}
