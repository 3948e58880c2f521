// The catalog stores what the sidecars of a session contain as JSON in the column `facts`.
import { sessionTextFields } from '../../../../shared/contract.ts'
import { object, optional } from '../../../../shared/shape.ts'
import type { Shape, Shaped } from '../../../../shared/shape.ts'
import { plausibleStart } from '../names/start-time.ts'

const start: Shape<number> = (value) =>
  typeof value === 'number' ? plausibleStart(value) : undefined

const factsShape = object({
  ...sessionTextFields,
  /** Start in milliseconds since 1970. */
  startMs: optional(start),
})

/** For lists: the untrusted text that they show of a session, and its start. */
export type SidecarFacts = Shaped<typeof factsShape>

export const NO_FACTS = '{}'

/** Only the facts of this release; other fields are left out. */
export function formatFacts(facts: SidecarFacts): string {
  return JSON.stringify(factsShape(facts) ?? {})
}

/** None for any other text: a node of another release may have written it. */
export function parseFacts(stored: string): SidecarFacts {
  if (stored === NO_FACTS) return {}
  try {
    return factsShape(JSON.parse(stored)) ?? {}
  } catch {
    return {}
  }
}
