// The catalog stores what the sidecars of a session contain as JSON in the column `facts`.
import { sessionTextFields } from '../../../../shared/contract.ts'
import { count, object, optional } from '../../../../shared/shape.ts'
import type { Shaped } from '../../../../shared/shape.ts'

const factsShape = object({
  ...sessionTextFields,
  /** Start in milliseconds since 1970. */
  startMs: optional(count),
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
