// Shapes of what the API answers (CONTRACT of both sides). The page imports the types alone; the server checks with the schemas.
import { z } from 'zod'

export const streamersAnswer = z.object({
  streamers: z.array(z.object({ name: z.string(), recording_count: z.int().nonnegative() })),
})
export type StreamersAnswer = z.infer<typeof streamersAnswer>
export type StreamerItem = StreamersAnswer['streamers'][number]

export const sessionsAnswer = z.array(
  z.object({
    date: z.string(),
    sessionId: z.string(),
    /** `H:MM:SS`; absent while unknown. */
    duration: z.string().optional(),
  }),
)
export type SessionsAnswer = z.infer<typeof sessionsAnswer>
export type SessionItem = SessionsAnswer[number]

export const errorAnswer = z.object({
  error: z.object({ code: z.string(), message: z.string() }),
})
export type ErrorAnswer = z.infer<typeof errorAnswer>

export const configAnswer = z.object({
  ads: z.object({ provider: z.enum(['none', 'house', 'network']) }),
  analytics: z.object({ firstParty: z.boolean() }),
})
export type ConfigAnswer = z.infer<typeof configAnswer>
