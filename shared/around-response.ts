// Response of GET /api/around/{streamer}/{date}/{sessionId}. Apart from contract.ts, because only a
// part of the page that loads later reads it.
import { amount, list, number, object, optional, string } from './shape.ts'
import type { Shaped } from './shape.ts'

export const aroundResponse = object({
  /** Of other streamers, longest overlap first. */
  sessions: list(
    object({
      streamer: string,
      date: string,
      sessionId: string,
      title: optional(string),
      /** Position of the requested session at the start of this one; negative: it began before. */
      offsetSeconds: number,
      durationSeconds: amount,
    }),
  ),
})
export type AroundResponse = Shaped<typeof aroundResponse>
