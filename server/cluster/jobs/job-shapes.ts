// What the jobs of a cluster contain. The database is outside of the process: each is validated.
import { z } from 'zod'
import type { SessionReference } from '../../../shared/paths.ts'
import { unplayableReasonSchema } from '../../base/problem.ts'

const statShape = z.object({
  sizeBytes: z.int().min(0),
  modifiedMs: z.int(),
  version: z.string(),
})

const sessionShape = z.object({ streamer: z.string(), date: z.string(), sessionId: z.string() })

/** A recording to inspect, as the scanning node has found it. */
const inspectionJobShape = z.object({
  path: z.string(),
  kind: z.enum(['file', 'folder']),
  stat: statShape,
  session: sessionShape,
})
export type InspectionJob = z.infer<typeof inspectionJobShape>

/** `failed`: for a reason outside of the recording; `gone`: it was replaced or deleted. */
const outcomeShape = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('playable'),
    durationSeconds: z.number().min(0),
    startMs: z.int().optional(),
    isFlawed: z.boolean(),
  }),
  z.object({ status: z.literal('unplayable'), reason: unplayableReasonSchema }),
  z.object({ status: z.literal('failed') }),
  z.object({ status: z.literal('gone') }),
])
export type InspectionJobOutcome = z.infer<typeof outcomeShape>

/** What a node has found out about one version of a recording. */
const inspectionResultShape = z.object({
  path: z.string(),
  version: z.string(),
  outcome: outcomeShape,
})
export type InspectionJobResult = z.infer<typeof inspectionResultShape>

/** A file of a rendition, by its URL, and the client that waits for it. */
const encodeJobShape = z.object({
  session: sessionShape,
  version: z.string(),
  name: z.string(),
  client: z.string(),
})
export type EncodeJob = z.infer<typeof encodeJobShape>

/**
 * `done`: it is among the artifacts, if they can be written. `busy`: it is not, because of the
 * limits of the node. `failed`: for another reason.
 */
const encodeOutcomeShape = z.object({ status: z.enum(['done', 'busy', 'failed']) })
export type EncodeOutcome = z.infer<typeof encodeOutcomeShape>

/** Undefined for anything else, as are the results of the parsers below. */
export function parseInspectionJob(data: unknown): InspectionJob | undefined {
  return inspectionJobShape.safeParse(data).data
}

/** A job that no node could complete is a result itself: that it failed. */
export function parseInspectionResult(data: unknown): InspectionJobResult | undefined {
  const result = inspectionResultShape.safeParse(data).data
  if (result !== undefined) return result
  const job = parseInspectionJob(data)
  return job && { path: job.path, version: job.stat.version, outcome: { status: 'failed' } }
}

export function parseSession(data: unknown): SessionReference | undefined {
  return sessionShape.safeParse(data).data
}

export function parseEncodeJob(data: unknown): EncodeJob | undefined {
  return encodeJobShape.safeParse(data).data
}

export function parseEncodeOutcome(output: unknown): EncodeOutcome | undefined {
  return encodeOutcomeShape.safeParse(output).data
}
