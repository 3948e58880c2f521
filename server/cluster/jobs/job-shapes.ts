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

/** Small recordings, as one job. As a result: those that no node has inspected. */
const inspectionBatchShape = z.object({ recordings: z.array(inspectionJobShape) })

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

const batchResultShape = z.object({ results: z.array(inspectionResultShape) })

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

/** The recordings of one job; none if another release has added it. */
export function parseInspections(data: unknown): InspectionJob[] {
  const job = inspectionJobShape.safeParse(data).data
  return job === undefined ? (inspectionBatchShape.safeParse(data).data?.recordings ?? []) : [job]
}

/** A job that no node could complete is a result itself: of one recording, that it failed. */
export function parseInspectionResults(data: unknown): {
  results: InspectionJobResult[]
  /** What is to be inspected again, each recording alone. */
  rest: InspectionJob[]
} {
  const rest = inspectionBatchShape.safeParse(data).data?.recordings ?? []
  const batch = batchResultShape.safeParse(data).data
  if (batch !== undefined) return { results: batch.results, rest }
  const result = inspectionResultShape.safeParse(data).data
  if (result !== undefined) return { results: [result], rest }
  const { data: job } = inspectionJobShape.safeParse(data)
  const outcome = { status: 'failed' } as const
  return { results: job ? [{ path: job.path, version: job.stat.version, outcome }] : [], rest }
}

/** Undefined for anything else, as are the results of the parsers below. */
export function parseSession(data: unknown): SessionReference | undefined {
  return sessionShape.safeParse(data).data
}

export function parseEncodeJob(data: unknown): EncodeJob | undefined {
  return encodeJobShape.safeParse(data).data
}

export function parseEncodeOutcome(output: unknown): EncodeOutcome | undefined {
  return encodeOutcomeShape.safeParse(output).data
}
